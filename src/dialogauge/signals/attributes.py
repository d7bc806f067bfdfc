"""Attributes that an assistant may ask for and a user may state, such as an order number."""

from __future__ import annotations

import re
from functools import cache

from dialogauge.core.values import Value
from dialogauge.signals.markers import ReplyMarker

# ruff: noqa: E501 - a pattern is read as a whole, and so is a list of words


class Attribute(Value):
    """Something that an assistant can ask for and a user can state."""

    english: str
    chinese: str
    question: str
    """Matches a `normalise`d sentence of the assistant that asks for it."""
    statement: str
    """Matches a `normalise`d user message that states it."""

    def is_asked_in(self, plain: str) -> bool:
        """Whether a sentence asks for it."""
        return bool(_compiled(self.question).search(plain))

    def is_stated_in(self, plain: str) -> bool:
        """Whether a user message states it."""
        return bool(_compiled(self.statement).search(plain))


_compiled = cache(re.compile)  # when a pattern is first tried: most talks need none


_N = (
    r"(?:\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|twelve|a|[一二两三四五六七八九十百千万]+)"
)
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
ATTRIBUTES: tuple[Attribute, ...] = (
    Attribute(
        "the order number",
        "订单号",
        r"order (?:number|id|no\b|code|reference)|(?:number|id) of (?:your|the) order|订单(?:号|编号)|单号",
        r"\border\b[^.?!]{0,25}?#?\b[a-z]{0,4}-?\d{4,}|#[a-z]?\d{5,}|\b[a-z]{2,4}-\d{4,}|订单[^。?!]{0,12}[a-z0-9-]{5,}",
    ),
    Attribute(
        "the e-mail address",
        "邮箱",
        r"e-?mail address\b|what(?:'s| is) your e-?mail|(?:provide|share|need|have|give me|tell me|confirm) (?:your|an?) e-?mail\b|邮箱|电子邮件(?:地址)?是",
        r"\S+@\S+\.\w+",
    ),
    Attribute(
        "the phone number",
        "电话号码",
        r"(?:phone|mobile|telephone|contact) number|number to (?:call|reach)|手机号|电话号?码?|联系方式",
        r"(?<![\d-])\+?\d[\d -]{8,14}\d(?![\d-])|尾号 ?\d{4}",
    ),
    Attribute(
        "the postcode",
        "邮编",
        r"zip ?code|post ?code|postal code|邮编|邮政编码",
        r"zip[^.?!]{0,15}\d{5}|\b[a-z]{1,2}\d{1,2}[a-z]? \d[a-z]{2}\b|邮编[^。]{0,4}\d{6}",
    ),
    Attribute(
        "the address",
        "地址",
        r"(?:delivery|shipping|street|home|full|your|the)(?: full)? address\b(?! (?:of|is))|where should (?:it|we|i) (?:send|deliver|ship)"
        r"|(?:详细|收货|收件|家庭|您的|你的)?地址",
        r"\b\d{1,5},? [a-z]+(?: [a-z]+)? (?:street|st|road|rd|lane|avenue|ave|drive|way|close|court|square|place|terrace|gardens)\b"
        r"|[\u4e00-\u9fff]{2,}(?:路|街|巷|道|大道) ?\d+ ?号|\d+ ?栋 ?\d+|[\u4e00-\u9fff]+小区",
    ),
    Attribute(
        "the budget",
        "预算",
        r"budget\b|how much (?:do|would|are|can|could) you[^?]{0,25}(?:spend|pay|afford)|price (?:range|limit)|预算|价位|多少钱(?:以内|左右)?的?(?:预算|打算)",
        rf"budget[^.?!]{{0,30}}\d|(?:under|below|within|up to|max(?:imum)?|at most|no more than|less than|around|about)(?: of)? ?[$£€¥]? ?\d[\d,]{{1,}}(?! ?(?:people|guests|min|hour|day|km|word|mile))|[$£€¥] ?\d+[^.?!]{{0,20}}(?:budget|max|limit|all in|total|to spend)|预算[^。?!]{{0,10}}{_N}|{_N} ?(?:元|块|万|千)?(?:钱)?(?:以内|以下|之内|左右的预算|的预算)",
    ),
    Attribute(
        "the number of people",
        "人数",
        r"how many \w+ (?:are|will) (?:you|there)|how many (?:people|guests|persons|adults|travell?ers|of you|participants|attendees|seats|diners|will|are (?:you|there|coming|going))|number of (?:people|guests|travell?ers|participants)|party size|group size|几(?:个|位)人|多少(?:个|位)?(?:人|客人|宾客)|几位|人数",
        rf"\b{_N} (?:people|persons|guests|adults|of us|friends|travell?ers|participants|colleagues|attendees|players|kids)\b|\b(?:table|room|dinner|lunch|party|group|family|choir|team|class|band|club|seats|reservation|book\w*) (?:for|of) {_N}\b|\bjust (?:me|the two of us)\b|\b(?:me and my|my \w+ and (?:i|me))\b|{_N} ?(?:个|位|名)?(?:人|客人|宾客|大人|同事|朋友|同学)|一家[三四五六]口|我(?:和|跟)[^,。]{{1,8}}(?:两|俩)",
    ),
    Attribute(
        "the date",
        "日期",
        r"(?:what|which) (?:date|day|dates|days)\b|when (?:do|would|will|are|is) (?:you|it|the (?:trip|event|party|visit|wedding|flight|departure))|(?:travel|departure|arrival|event|delivery|check-in) dates?|the date (?:of|you)|哪(?:一)?天|什么时候(?:出发|去|办|举行|入住|开始|需要|要|来)|几(?:月几)?(?:号|日)|日期|何时(?:出发|入住)",
        rf"\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b|\b{_MONTH} \d{{1,2}}|\b\d{{4}}-\d{{2}}-\d{{2}}|\b(?:next|this|on|coming) (?:mon|tues|wednes|thurs|fri|satur|sun)day|\btomorrow\b|\bthe \d{{1,2}}(?:st|nd|rd|th)\b|\d{{1,2}} ?月 ?\d{{1,2}} ?[日号]|(?:下|这|本)?(?:周|星期|礼拜)[一二三四五六日天末]|明天|后天|国庆|五一|春节|元旦|中秋",
    ),
    Attribute(
        "the length of stay",
        "天数",
        r"how (?:long|many (?:days|nights|weeks))[^?]{0,30}(?:stay|trip|travel|visit|plan|go|be (?:there|away)|spend)|(?:几|多少)(?:天|晚|日|个晚上)|多久|多长时间|天数",
        rf"\b{_N}[- ](?:day|night|week|month)s?\b|{_N} ?(?:天|晚|夜|周|个月|个星期|日游)",
    ),
    Attribute(
        "the destination",
        "目的地",
        r"where (?:are you|do you|would you|will you|did you)[^?]{0,20}(?:go|going|travel\w*|head\w*|visit|fly\w*)|(?:which|what) (?:city|country|destination|place)[^?]{0,25}(?:go|visit|travel|head|fly|have in mind|plan)|(?:your|the) destination|(?:去|到|想去|打算去)(?:哪儿|哪里|什么地方|哪个(?:城市|国家|地方))|目的地",
        r"\b(?:trip|travel\w*|go(?:ing)?|fly\w*|flight|head\w*|visit\w*|weekend|holiday|vacation|days|week) (?:to|in|for) (?!a\b|the\b|my\b|be\b|see\b|go\b)[a-z]{3,}|(?:去|到|飞)[\u4e00-\u9fff]{2,6}(?:玩|旅|游|出差|度假|看|的)",
    ),
    Attribute(
        "the place of departure",
        "出发地",
        r"where (?:will|are|would|do) you[^?]{0,20}(?:from|start\w*|depart\w*|leav\w*)|(?:departure|starting) (?:city|point|airport|place|location)|从(?:哪儿|哪里|哪个城市|什么地方)(?:出发|走|过来|启程)|出发(?:地|城市)",
        r"\bfrom [a-z]{3,}(?: to|,|\.|$| on\b| airport| station)|\b(?:start\w*|depart\w*|leav\w*) (?:in|from) [a-z]{3,}|从[\u4e00-\u9fff]{2,6}(?:出发|到|去|走|飞)|[\u4e00-\u9fff]{2,4}出发|(?:我|人)在[\u4e00-\u9fff]{2,4}(?:这边|上班|住|工作)",
    ),
    Attribute(
        "the name",
        "姓名",
        r"(?:what(?:'s| is)|may i (?:have|know|ask)|could (?:you|i)[^?]{0,20}|please[^?.]{0,20}) ?your (?:full |first |last )?name|怎么称呼|(?:您|你)(?:的)?(?:贵姓|尊姓|姓名|名字)|(?:联系人|收件人)(?:姓名|怎么称呼|是谁)",
        r"\bmy name is\b|\bi(?:'m| am) [a-z]+ [a-z]+ (?:from|and my)\b|\bthis is [a-z]+ (?:[a-z]+ )?(?:from|here|speaking)|\bname'?s [a-z]+|我(?:叫|是)[\u4e00-\u9fff]{2,3}(?:[,，。]|$)|我姓[\u4e00-\u9fff]|联系人(?:写|是|叫)?[\u4e00-\u9fff]{2,}",
    ),
    Attribute(
        "the age",
        "年龄",
        r"how old\b|\b(?:your|his|her|their|the child'?s?) age\b|what age|多大(?:了|年纪|年龄)?|几岁|年龄|多少岁",
        rf"\b{_N}[- ]years?[- ]old|\b(?:i'?m|he'?s|she'?s|aged?|turn\w*|is) {_N}(?: years?)?\b(?! ?(?:people|min|hour|km|day|week|month|%))|{_N} ?(?:岁|周岁|个月大)",
    ),
    Attribute(
        "the diet",
        "忌口",
        r"(?:any )?(?:dietary|food) (?:restrictions?|requirements?|preferences?|needs|allerg\w+)|\ballerg(?:y|ies|ic)\b|忌口|过敏|饮食(?:禁忌|限制|要求|偏好)|不(?:能)?吃(?:什么|的)",
        r"\b(?:vegan|vegetarian|gluten|lactose|halal|kosher|allerg\w+|coeliac|celiac|pescatarian|don't eat|can't eat|no (?:meat|dairy|nuts?|pork|fish|seafood))\b|吃素|素食|过敏|不吃|忌口|清真|乳糖|不能吃",
    ),
    Attribute(
        "the model of the device",
        "型号",
        r"(?:which|what) (?:model|version|device|phone|laptop|operating system|os|make|browser)\b|(?:model|version|serial) (?:number|name)|(?:什么|哪个|哪款|具体)(?:型号|版本|系统|机型|品牌|牌子)|型号是",
        r"\b(?:iphone|galaxy|pixel|macbook|thinkpad|windows|ubuntu|debian|android|ios|python|node|chrome|firefox)[ -]?\d+|\bmodel\b[^.?!]{0,12}[a-z]*-?\d{2,}|\bmacos\b|\blinux\b|型号[^。?]{0,6}[a-z0-9-]{3,}|版本[^。?]{0,6}\d",
    ),
)

ANY_QUESTION = ReplyMarker(*(a.question for a in ATTRIBUTES))
"""Matches a question for any attribute; most sentences ask for none."""
