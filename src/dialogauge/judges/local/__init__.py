"""The local judge: no model, no network, no key."""
