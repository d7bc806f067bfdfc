"""Values in sentences (days, money, hours ...), and attributes that an assistant may ask for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dialogauge.signals.markers import ReplyMarker

# ruff: noqa: E501, SIM905 - a pattern is read as a whole, and so is a list of words


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something that an assistant can ask for and a user can state."""

    english: str
    chinese: str
    question: re.Pattern[str]
    """Matches a `normalise`d sentence of the assistant that asks for it."""
    statement: re.Pattern[str]
    """Matches a `normalise`d user message that states it."""


def _attribute(english: str, chinese: str, question: str, statement: str) -> Attribute:
    return Attribute(english, chinese, re.compile(question), re.compile(statement))


_N = (
    r"(?:\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|twelve|a|[一二两三四五六七八九十百千万]+)"
)
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
ATTRIBUTES: tuple[Attribute, ...] = (
    _attribute(
        "the order number",
        "订单号",
        r"order (?:number|id|no\b|code|reference)|(?:number|id) of (?:your|the) order|订单(?:号|编号)|单号",
        r"\border\b[^.?!]{0,25}?#?\b[a-z]{0,4}-?\d{4,}|#[a-z]?\d{5,}|\b[a-z]{2,4}-\d{4,}|订单[^。?!]{0,12}[a-z0-9-]{5,}",
    ),
    _attribute(
        "the e-mail address",
        "邮箱",
        r"e-?mail address\b|what(?:'s| is) your e-?mail|(?:provide|share|need|have|give me|tell me|confirm) (?:your|an?) e-?mail\b|邮箱|电子邮件(?:地址)?是",
        r"\S+@\S+\.\w+",
    ),
    _attribute(
        "the phone number",
        "电话号码",
        r"(?:phone|mobile|telephone|contact) number|number to (?:call|reach)|手机号|电话号?码?|联系方式",
        r"(?<![\d-])\+?\d[\d -]{8,14}\d(?![\d-])|尾号 ?\d{4}",
    ),
    _attribute(
        "the postcode",
        "邮编",
        r"zip ?code|post ?code|postal code|邮编|邮政编码",
        r"zip[^.?!]{0,15}\d{5}|\b[a-z]{1,2}\d{1,2}[a-z]? \d[a-z]{2}\b|邮编[^。]{0,4}\d{6}",
    ),
    _attribute(
        "the address",
        "地址",
        r"(?:delivery|shipping|street|home|full|your|the)(?: full)? address\b(?! (?:of|is))|where should (?:it|we|i) (?:send|deliver|ship)"
        r"|(?:详细|收货|收件|家庭|您的|你的)?地址",
        r"\b\d{1,5},? [a-z]+(?: [a-z]+)? (?:street|st|road|rd|lane|avenue|ave|drive|way|close|court|square|place|terrace|gardens)\b"
        r"|[\u4e00-\u9fff]{2,}(?:路|街|巷|道|大道) ?\d+ ?号|\d+ ?栋 ?\d+|[\u4e00-\u9fff]+小区",
    ),
    _attribute(
        "the budget",
        "预算",
        r"budget\b|how much (?:do|would|are|can|could) you[^?]{0,25}(?:spend|pay|afford)|price (?:range|limit)|预算|价位|多少钱(?:以内|左右)?的?(?:预算|打算)",
        rf"budget[^.?!]{{0,30}}\d|(?:under|below|within|up to|max(?:imum)?|at most|no more than|less than|around|about)(?: of)? ?[$£€¥]? ?\d[\d,]{{1,}}(?! ?(?:people|guests|min|hour|day|km|word|mile))|[$£€¥] ?\d+[^.?!]{{0,20}}(?:budget|max|limit|all in|total|to spend)|预算[^。?!]{{0,10}}{_N}|{_N} ?(?:元|块|万|千)?(?:钱)?(?:以内|以下|之内|左右的预算|的预算)",
    ),
    _attribute(
        "the number of people",
        "人数",
        r"how many \w+ (?:are|will) (?:you|there)|how many (?:people|guests|persons|adults|travell?ers|of you|participants|attendees|seats|diners|will|are (?:you|there|coming|going))|number of (?:people|guests|travell?ers|participants)|party size|group size|几(?:个|位)人|多少(?:个|位)?(?:人|客人|宾客)|几位|人数",
        rf"\b{_N} (?:people|persons|guests|adults|of us|friends|travell?ers|participants|colleagues|attendees|players|kids)\b|\b(?:table|room|dinner|lunch|party|group|family|choir|team|class|band|club|seats|reservation|book\w*) (?:for|of) {_N}\b|\bjust (?:me|the two of us)\b|\b(?:me and my|my \w+ and (?:i|me))\b|{_N} ?(?:个|位|名)?(?:人|客人|宾客|大人|同事|朋友|同学)|一家[三四五六]口|我(?:和|跟)[^,。]{{1,8}}(?:两|俩)",
    ),
    _attribute(
        "the date",
        "日期",
        r"(?:what|which) (?:date|day|dates|days)\b|when (?:do|would|will|are|is) (?:you|it|the (?:trip|event|party|visit|wedding|flight|departure))|(?:travel|departure|arrival|event|delivery|check-in) dates?|the date (?:of|you)|哪(?:一)?天|什么时候(?:出发|去|办|举行|入住|开始|需要|要|来)|几(?:月几)?(?:号|日)|日期|何时(?:出发|入住)",
        rf"\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b|\b{_MONTH} \d{{1,2}}|\b\d{{4}}-\d{{2}}-\d{{2}}|\b(?:next|this|on|coming) (?:mon|tues|wednes|thurs|fri|satur|sun)day|\btomorrow\b|\bthe \d{{1,2}}(?:st|nd|rd|th)\b|\d{{1,2}} ?月 ?\d{{1,2}} ?[日号]|(?:下|这|本)?(?:周|星期|礼拜)[一二三四五六日天末]|明天|后天|国庆|五一|春节|元旦|中秋",
    ),
    _attribute(
        "the length of stay",
        "天数",
        r"how (?:long|many (?:days|nights|weeks))[^?]{0,30}(?:stay|trip|travel|visit|plan|go|be (?:there|away)|spend)|(?:几|多少)(?:天|晚|日|个晚上)|多久|多长时间|天数",
        rf"\b{_N}[- ](?:day|night|week|month)s?\b|{_N} ?(?:天|晚|夜|周|个月|个星期|日游)",
    ),
    _attribute(
        "the destination",
        "目的地",
        r"where (?:are you|do you|would you|will you|did you)[^?]{0,20}(?:go|going|travel\w*|head\w*|visit|fly\w*)|(?:which|what) (?:city|country|destination|place)[^?]{0,25}(?:go|visit|travel|head|fly|have in mind|plan)|(?:your|the) destination|(?:去|到|想去|打算去)(?:哪儿|哪里|什么地方|哪个(?:城市|国家|地方))|目的地",
        r"\b(?:trip|travel\w*|go(?:ing)?|fly\w*|flight|head\w*|visit\w*|weekend|holiday|vacation|days|week) (?:to|in|for) (?!a\b|the\b|my\b|be\b|see\b|go\b)[a-z]{3,}|(?:去|到|飞)[\u4e00-\u9fff]{2,6}(?:玩|旅|游|出差|度假|看|的)",
    ),
    _attribute(
        "the place of departure",
        "出发地",
        r"where (?:will|are|would|do) you[^?]{0,20}(?:from|start\w*|depart\w*|leav\w*)|(?:departure|starting) (?:city|point|airport|place|location)|从(?:哪儿|哪里|哪个城市|什么地方)(?:出发|走|过来|启程)|出发(?:地|城市)",
        r"\bfrom [a-z]{3,}(?: to|,|\.|$| on\b| airport| station)|\b(?:start\w*|depart\w*|leav\w*) (?:in|from) [a-z]{3,}|从[\u4e00-\u9fff]{2,6}(?:出发|到|去|走|飞)|[\u4e00-\u9fff]{2,4}出发|(?:我|人)在[\u4e00-\u9fff]{2,4}(?:这边|上班|住|工作)",
    ),
    _attribute(
        "the name",
        "姓名",
        r"(?:what(?:'s| is)|may i (?:have|know|ask)|could (?:you|i)[^?]{0,20}|please[^?.]{0,20}) ?your (?:full |first |last )?name|怎么称呼|(?:您|你)(?:的)?(?:贵姓|尊姓|姓名|名字)|(?:联系人|收件人)(?:姓名|怎么称呼|是谁)",
        r"\bmy name is\b|\bi(?:'m| am) [a-z]+ [a-z]+ (?:from|and my)\b|\bthis is [a-z]+ (?:[a-z]+ )?(?:from|here|speaking)|\bname'?s [a-z]+|我(?:叫|是)[\u4e00-\u9fff]{2,3}(?:[,，。]|$)|我姓[\u4e00-\u9fff]|联系人(?:写|是|叫)?[\u4e00-\u9fff]{2,}",
    ),
    _attribute(
        "the age",
        "年龄",
        r"how old\b|\b(?:your|his|her|their|the child'?s?) age\b|what age|多大(?:了|年纪|年龄)?|几岁|年龄|多少岁",
        rf"\b{_N}[- ]years?[- ]old|\b(?:i'?m|he'?s|she'?s|aged?|turn\w*|is) {_N}(?: years?)?\b(?! ?(?:people|min|hour|km|day|week|month|%))|{_N} ?(?:岁|周岁|个月大)",
    ),
    _attribute(
        "the diet",
        "忌口",
        r"(?:any )?(?:dietary|food) (?:restrictions?|requirements?|preferences?|needs|allerg\w+)|\ballerg(?:y|ies|ic)\b|忌口|过敏|饮食(?:禁忌|限制|要求|偏好)|不(?:能)?吃(?:什么|的)",
        r"\b(?:vegan|vegetarian|gluten|lactose|halal|kosher|allerg\w+|coeliac|celiac|pescatarian|don't eat|can't eat|no (?:meat|dairy|nuts?|pork|fish|seafood))\b|吃素|素食|过敏|不吃|忌口|清真|乳糖|不能吃",
    ),
    _attribute(
        "the model of the device",
        "型号",
        r"(?:which|what) (?:model|version|device|phone|laptop|operating system|os|make|browser)\b|(?:model|version|serial) (?:number|name)|(?:什么|哪个|哪款|具体)(?:型号|版本|系统|机型|品牌|牌子)|型号是",
        r"\b(?:iphone|galaxy|pixel|macbook|thinkpad|windows|ubuntu|debian|android|ios|python|node|chrome|firefox)[ -]?\d+|\bmodel\b[^.?!]{0,12}[a-z]*-?\d{2,}|\bmacos\b|\blinux\b|型号[^。?]{0,6}[a-z0-9-]{3,}|版本[^。?]{0,6}\d",
    ),
)

ANY_QUESTION = ReplyMarker(*(a.question.pattern for a in ATTRIBUTES))
"""Matches a question for any attribute; most sentences ask for none."""

_MONTHS = {m: i for i, m in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_DAYS = {d: i for i, d in enumerate("mon tue wed thu fri sat sun".split(), 1)}
_ZH_DAYS = {d: i for i, d in enumerate("一二三四五六日", 1)} | {"天": 7}
_ZH_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九十")} | {"两": 2, "半": 0.5}
_WORDS = {
    w: i for i, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}

_NUM = r"(\d[\d,]*(?:\.\d+)?|(?<![零一二三四五六七八九十百千万])[零一二三四五六七八九十两半](?![一二三四五六七八九十])|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)"
_UNITS = {
    "people": r"(?:people|persons?|guests?|adults|passengers|travell?ers|participants|attendees|(?:个|位|名)(?:人|客人|宾客|大人)|人(?![民生间际均工物口员类家力数次选均]))",
    "night": r"(?:nights?|晚(?![上餐饭会])|夜)",
    "day": r"(?:days?|天(?![气空下然津])|日游)",
    "week": r"(?:weeks?|周(?![一二三四五六日末边围岁年])|个星期)",
    "month": r"(?:months?|个月)",
    "year": r"(?:years?|年(?![级纪龄轻底初代会货夜]))",
    "hour": r"(?:hours?|hrs?\b|个?小时|个钟头)",
    "minute": r"(?:minutes?|mins?\b|分钟)",
    "percent": r"(?:%|percent|per cent|折)",
    "km": r"(?:km\b|kilomet(?:er|re)s?|公里|千米)",
    "metre": r"(?:m\b|met(?:er|re)s?|米)",
    "mile": r"(?:miles?\b)",
    "kg": r"(?:kg\b|kilos?|公斤|千克)",
    "gram": r"(?:g\b|grams?|克(?![力拉服]))",
    "money": r"(?:dollars?|usd|euros?|eur\b|pounds?|gbp|yuan|rmb|cny|元(?![素旦宵])|块(?:钱)?|万元?)",
    "calorie": r"(?:k?cal\b|calories|千卡|大卡|卡路里)",
    "degree": r"(?:°c?|degrees?|度(?![假过量数]))",
}  # fmt: skip
_QUANTITY = re.compile(rf"{_NUM} ?-?(?:{'|'.join(f'(?P<{name}>{unit})' for name, unit in _UNITS.items())})")
_CURRENCY = re.compile(r"(?:[$£€¥]|rmb ?|usd ?)(\d[\d,]*(?:\.\d+)?)")
_CLOCK = re.compile(
    r"\b(\d{1,2})(?::(\d{2}))? ?(am|pm|a\.m\.|p\.m\.)|\b(\d{1,2}):(\d{2})\b|(上午|下午|晚上|早上|中午)? ?(\d{1,2}) ?点(半)?"
)
_DATE = re.compile(
    r"\b(\d{1,2})(?:st|nd|rd|th)? (?:of )?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b"
    r"|\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (\d{1,2})\b(?!:)|(\d{1,2}) ?月 ?(\d{1,2}) ?[日号]|\b\d{4}-(\d{2})-(\d{2})\b"
)
_WEEKDAY = re.compile(
    r"\b(mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?days?\b|(?:周|星期|礼拜)([一二三四五六日天])"
)
# A match needs one of these, and a search for them is cheaper.
_CLOCK_SIGN = re.compile(r"\d(?::\d\d| ?(?:[ap]\.?m|点))")
_DATE_SIGN = re.compile("|".join(["月", "-", *_MONTHS]))
_WEEKDAY_SIGN = re.compile("day|周|星期|礼拜")
_CLAUSE = re.compile(r"[,;。；!?](?= |[^\d]|$)|\.(?= |$)|\n| (?:and|but|while|then|plus) |而|但|并且|另外")


@dataclass(frozen=True, slots=True)
class Fact:
    """One value in a sentence."""

    unit: str
    value: str
    written: str
    """The value as it is written."""
    sentence: str


# One set of first characters, then the rest for each: `re` skips to such a set quickly.
_MAYBE = re.compile(
    r"[\d$£€¥周星礼一二三四五六七八九十两半dotfsenjma](?:"
    r"(?<=\d)(?: ?-?(?:[人位名晚夜天周个月年小分%％公千米克元块万度点日号折:：°]|[a-z])|\d{3}-\d\d)"
    r"|(?<=[$£€¥]) ?\d|(?:(?<=周)|(?<=星)期|(?<=礼)拜)[一二三四五六日天]"
    r"|(?<=[一二三四五六七八九十两半])(?: ?(?:[人位名晚夜天周年分元块万度点折]|个(?:人|月|星期|小时)|小时|公里|公斤|米))"
    r"|(?<=d)ay\b|(?:(?<=\bo)ne|(?<=\bt)(?:wo|hree|en|welve)|(?<=\bf)(?:our|ive)|(?<=\bs)(?:ix|even)"
    r"|(?<=\be)(?:ight|leven)|(?<=\bn)ine)\b"
    r"|(?:(?<=\bj)(?:an|un|ul)|(?<=\bf)eb|(?<=\bm)(?:ar|ay)|(?<=\ba)(?:pr|ug)|(?<=\bs)ep"
    r"|(?<=\bo)ct|(?<=\bn)ov|(?<=\bd)ec)[a-z]* \d)"
)


def holds_value(text: str) -> bool:
    """Say quickly whether a text may hold a fact."""
    return bool(_MAYBE.search(text.lower()))


def read_facts(text: str, plain: str, limit: int = 60) -> list[Fact]:
    """Return the facts of a sentence or line, at most `limit`; `plain` is its normalised form."""
    out: list[Fact] = []
    start = 0
    for end in [m.end() for m in _CLAUSE.finditer(plain)] + [len(plain)]:
        if _MAYBE.search(plain, start, end):
            out.extend(_clause_facts(plain[start:end], text))
        start = end
    return out[:limit]


def _clause_facts(clause: str, sentence: str) -> list[Fact]:
    matches = [*_quantities(clause), *_clocks(clause), *_dates(clause)]
    return [Fact(unit, value, written.strip(), sentence) for unit, value, written in matches]


def _quantities(clause: str) -> list[tuple[str, str, str]]:
    out = [(m.lastgroup or "", _number(m.group(1)), m.group()) for m in _QUANTITY.finditer(clause)]
    out += [("money", _number(m.group(1)), m.group()) for m in _CURRENCY.finditer(clause)]
    return out


def _number(text: str) -> str:
    if text in _ZH_DIGITS:
        return f"{_ZH_DIGITS[text]:g}"
    if text in _WORDS:
        return str(_WORDS[text])
    return f"{float(text.replace(',', '')):g}"


def _clocks(clause: str) -> list[tuple[str, str, str]]:
    out: list[tuple[str, str, str]] = []
    for m in _CLOCK.finditer(clause) if _CLOCK_SIGN.search(clause) else ():
        hour = int(m.group(1) or m.group(4) or m.group(7)) % 12  # 3 pm and 15:00 are one value
        minute = m.group(2) or m.group(5) or ("30" if m.group(8) else "00")
        out.append(("clock", f"{hour}:{minute}", m.group()))
    return out


def _dates(clause: str) -> list[tuple[str, str, str]]:
    out: list[tuple[str, str, str]] = []
    for m in _DATE.finditer(clause) if _DATE_SIGN.search(clause) else ():
        name = m.group(2) or m.group(3)
        month = _MONTHS[name] if name else int(m.group(5) or m.group(7))
        day = int(m.group(1) or m.group(4) or m.group(6) or m.group(8))
        out.append(("date", f"{month}-{day}", m.group()))
    for m in _WEEKDAY.finditer(clause) if _WEEKDAY_SIGN.search(clause) else ():
        number = _DAYS[m.group(1)] if m.group(1) else _ZH_DAYS[m.group(2)]
        out.append(("weekday", str(number), m.group()))
    return out
