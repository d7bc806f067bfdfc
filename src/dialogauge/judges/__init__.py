"""Judges: what scores. Each is a room of its own, loaded when it is asked for; `core.protocols.Judge` is the
contract.
"""
