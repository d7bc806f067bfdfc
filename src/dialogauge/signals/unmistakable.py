"""Complaints that can be meant in one way only.

The markers of `user_markers` are wide: people also tell of others whom they asked, told or repeated
themselves to. What matches here says by its wording that the assistant's reply is meant.
"""

# ruff: noqa: E501 - a pattern is read as a whole, not in lines
from __future__ import annotations

from collections.abc import Mapping

from dialogauge.signals.marker import Marker

__all__ = ["PLAIN_COMPLAINTS"]


_BEFORE = "(?:already|just|clearly|literally|explicitly|specifically)"
_ZH_BEFORE = "(?:刚才|刚刚|前面|上面|之前|上一条|开头|一开始|当时)"

_SAME_AGAIN = Marker(
    r"\byou(?:'re| are)? (?:just |only )?(?:keep|kept|repeating|repeated) (?:repeating|saying|sending|giving|telling|asking|suggesting|yourself|the same|that|this|it)\b",
    rf"\byou(?:'ve| have)? (?:{_BEFORE} )?(?:gave|given|sent|told|posted|said|suggested|wrote|asked) (?:me )?(?:exactly )?(?:that|this|these|those|the same|all (?:of )?(?:that|this))\b[^.?!]{{0,40}}\b(?:before|already|earlier|twice|again|last time|above)\b",
    r"\byou(?:'ve| have)? already (?:gave|given|sent|told|posted|suggested|asked|recommended)\b",
    r"\b(?:list|answer|text|advice|message|reply|tips|steps|code) you (?:already )?(?:gave|sent|wrote|posted) (?:me )?(?:before|already|earlier|above|last time)\b",
    r"\b(?:exact(?:ly)? the|the exact|the very|literally the) same (?:\w+ )?(?:list|answer|reply|response|message|text|advice|paragraph|words|steps|tips|thing)\b|\bsame (?:list|answer|reply|response|message|text|advice|paragraph|words|steps|tips) (?:again|as (?:before|above|last)|twice|once more)\b",
    r"\bbroken record\b|\b(?:stop )?repeating yourself\b|\bstop repeating\b|\bwe(?:'re| are) going (?:round|around|in circles)|\bgoing (?:round |around )in circles\b|^again\?",
    r"一模一样的?(?:回答|话|内容|答复|东西|一段)|(?:回答|话|内容|答复)[^。]{0,6}一模一样|一字不(?:差|落|改)|原封不动|复读机?|复制粘贴|车轱辘话|死循环|(?:别|不要|能不能不)再?重复(?:了|同|一样|上)|转圈|绕圈",
    rf"又(?:把)?[^。,]{{0,10}}(?:发|说|讲|念|写)了?一遍|(?:你|您){_ZH_BEFORE}?(?:已经|都|就|不是)?(?:发|说|讲|写|问)过(?:一遍|了|呀|啊|吧)|又是(?:一模一样|同样|这一?(?:段|套|条)|那一?(?:段|套|条))|怎么又(?:发|说|问|讲|是(?:这|那))",
)
_TOLD_ALREADY = Marker(
    rf"\bi(?:'ve| have)? {_BEFORE} (?:told|given|gave|sent) you\b|\bi(?:'ve| have)? {_BEFORE} (?:said|mentioned|wrote|written|explained|stated|answered)(?: (?:that|this|it|so|all that|all this))?(?=[.,!?;:]|$| in | at | above| earlier)",
    r"\b(?:in|see|read|was|were|is|are|it's|they're) (?:all )?(?:in )?my (?:very )?(?:first|last|previous|earlier|opening) (?:message|post|line|sentence)\b|\bvery first (?:thing|message|line|sentence) i (?:wrote|said|sent|told)\b",
    r"\bdid(?:n't)? (?:you|my last|my first|my) [^.?!]{0,20}\b(?:read (?:my|what)|get through|forget what i)\b|\b(?:have )?you(?:'ve| have)? (?:forgot|forgotten|ignored|overlooked) (?:what i|that i|my|the \w+ i|about my)\b|\bread (?:my (?:message|first|last)|what i (?:wrote|said))|\bscroll up\b|\bdid you (?:even )?(?:see|read|notice|catch|hear) what i (?:wrote|said|sent|asked)\b|\band i said so\b",
    r"\b(?:as it|it|that|they|all|both|those)(?:'s|'re| is| are)? (?:all |both )?(?:already |clearly )?(?:says?|written|stands?|there|stated) (?:at the (?:very )?top|above|in my|right there|up there|in the first)\b",
    r"\byou (?:already|do|still) have (?:my|it|that|all|them)\b|\bbeen (?:over|through) this\b|\bgone over this\b|\bas i (?:already|just) (?:said|told you|wrote|mentioned)\b",
    r"我(?:明明|早就?|不是|一开(?:头|始)就|开头就|第一句就|上来就|刚刚?就)[^。]{0,8}(?:说|讲|告诉|提|写|给|交代|发)(?:过|了|得)|我(?:刚才|刚刚|前面|之前|上面)?(?:已经)(?:跟你|给你|跟您|给您|向您|告诉)?(?:说|讲|告诉|提|写|给|交代|发)过?(?:你|您)?[^。,]{0,8}了",
    r"我?早(?:就|都)?(?:给|告诉|发|跟)(?:过)?(?:你|您)|(?:你|您)(?:是不是|又|怎么)?(?:忘了|忘记|没看|没记|不记得)(?:我|前面|上面|之前|刚才|$|[?？。!吗])|我刚(?:才)?说的是|第一(?:条|句)(?:消息|话)?(?:里|就)[^。]{0,6}(?:写|说|有|给|发)|(?:往|向)(?:上|回)翻|(?:你|您)都?已经(?:有|知道)了|(?:看|翻)(?:一?下|看)?(?:我)?(?:上面|前面)(?:说|写|发)",
)
_NOT_ANSWERED = Marker(
    r"\b(?:that|this|it)(?:'s| is| was|'s really)?(?:n't| not) (?:really |quite )?(?:what i (?:asked|meant|wanted|was asking)|an answer|the (?:answer|question)|my question|answering)\b|\bnot (?:really |quite )?what i (?:asked|meant|was asking)\b",
    r"\b(?:doesn't|didn't|does not|did not|hasn't|haven't|not|never) (?:really |actually |even )?(?:answer(?:ed|ing)?|address(?:ed|ing)?|respond(?:ed)? to) (?:my|the|that|it|me|either|any|what|a single)\b",
    r"\bi (?:was asking|asked|'m asking|am asking)\b[^?!]{0,60}(?:\bnot (?:for |about )?(?:a|an|the|your|how|what|whether)\b|\band (?:you|got|all i got)\b|\.\.\.$|…$)|\b(?:not|no) [^.?!]{0,30}[.;,:] i (?:asked|was asking|'m asking|am asking)\b",
    r"\bmy (?:actual |real |original )?question (?:was|is still|remains|stands)\b|\bstraight answer\b|\bjust answer\b|\bcan you actually (?:answer|tell|say)|\bfortune cookie|\bplatitude|\b(?:lots? of|so many) words\b[^.]{0,12}\bno\b|\bstill (?:no|waiting for (?:an|the|a|your)) answer\b|\bdodg(?:e|ed|ing) (?:my|the)\b",
    r"\byou (?:still )?(?:haven't|have not|didn't|did not|never) (?:told me|said|answered|addressed|touched|explained|mention(?:ed)?) (?:which|what|how|why|when|where|whether|if|my|the|anything)\b",
    r"答非所问|所答非问|文不对题|避而不答|(?:没有?|没在|并没有?|根本没)(?:正面|直接)?(?:回答|答)(?:我|到|上|问题|清楚|出)|一个[^。]{0,6}都没(?:说|答|给|有|提)|等于没(?:说|讲|答)|(?:给|要)(?:个|句)?(?:准话|准信|痛快话|明白话)|空话|套话|废话|官话|打太极|敷衍|糊弄|搪塞",
    r"我(?:刚才|刚刚|明明)?(?:问|说)的(?:是|明明)|我(?:是|明明|刚才)(?:在)?(?:问|想问)(?:的)?(?!过)|不是(?:在)?问[^。]{0,20}是(?:在)?(?:问|说|想)|绕(?:来绕去|开)|正面回答",
)
_SAID_OTHERWISE = Marker(
    r"\b(?:earlier|before|just now|first|(?:a (?:minute|moment)|two messages) ago|at the start),? (?:just now |earlier |before |at first )?you(?:'d| had|'ve| have)?(?: just| also| yourself| first| clearly)? (?:said|told|wrote|claimed|gave|listed|stated|promised|quoted|confirmed)\b",
    r"\bcontradict(?!ory (?:feel|emo))|\bwhich (?:one )?is (?:it|right|correct|true)\b|\bwhich of (?:them|the two|these) is (?:right|correct|true)|\b(?:numbers?|figures?|dates?|prices?|times?|answers?|two|these|those) (?:don't|do not|doesn't) (?:agree|match|add up|line up|tally)\b|\bnow you(?:'re| are)? (?:say|saying|tell|telling|claim|claiming)\b|\bchanged? your (?:answer|tune|story)\b",
    r"\byou (?:said|told me|wrote|quoted|promised|stated)\b[^.?!]{0,60}[,.;:-] ?(?:and |but )?now\b|\byour (?:own |first |earlier |original )*(?:plan|answer|message|list|table|schedule|quote) (?:has|had|says|said|shows?|gave)\b[^?]{0,120}\b(?:now|but|which)\b|\bnot (?:how|what) you (?:said|explained|told|wrote|described|quoted)",
    rf"前后(?:矛盾|不一|说法)|(?:你|您)(?:刚才|刚刚|前面|之前)?(?:自己)?(?:算|说|写|报|列)的(?:是|明明)?[^。?]{{0,30}}(?:怎么|又成|现在又)|自相矛盾|改口|两个说法|哪个(?:算数|为准|才?是?对|准)|以哪个为准|(?:你|您)?{_ZH_BEFORE}(?:你|您)?(?:不是|明明|明明白白)(?:还|亲口|就)?(?:说|讲|写|报|告诉)(?!的?(?:要|想|我))|(?:你|您){_ZH_BEFORE}(?:还|亲口|明明)?(?:说|讲|写|报|告诉)[^。]{{0,30}}(?:怎么|现在|这会儿|又)|怎么(?:又|现在|一转眼|突然|这会儿)?(?:变|改|成)(?:成|了)[^。]{{0,12}}(?:[?？]|$)",
)
_OFF_TOPIC = Marker(
    r"\b(?:off[- ]topic|beside the point|changing the subject)\b|\bwhat (?:does|do|has|have) (?:that|this|it|they|any of (?:that|this)|\w+ \w+|\w+) (?:got |have )?to do with\b|\b(?:that|this|which|it)(?:'s| is| has)? (?:got )?nothing to do with (?:my|what|the|it)\b|\bwhy are you (?:talking|telling me|going on) about\b|\bhow did we get (?:to|onto|here)\b|\bwhere did that come from\b",
    r"(?:跟|和|与)[^。,]{0,12}(?:有什么|没|毫无|有啥|有半点)关系|跑题|离题|偏题|扯(?:到哪|哪|远了|什么|这些)|说到?哪(?:儿|里)去了|风马牛|[^,。]{1,6}我(?:又)?没(?:有)?问(?:你|您|过)?(?=[,。!…]|$)|我(?:又)?没(?:有)?问[^,。]{1,8}[,。!…]|(?:讲|说|聊|扯|谈|提)(?:这|那)(?:个|些)?(?:干嘛|干什么|做什么|干啥)|怎么(?:突然)?(?:扯|聊|讲|谈)(?:到|起)",
)
_NOT_CHANGED = Marker(
    r"\byou (?:changed|fixed|removed|updated) nothing\b|\byou(?:'ve| have)? (?:left|kept|put) (?:it|that|them|the \w+) (?:in|back|there)\b|\bread my (?:last )?message again\b",
    r"\bi (?:just |clearly )?(?:asked|told) you (?:not )?to (?:remove|change|drop|leave|take|delete|fix|skip|avoid|replace|swap)\b",
    r"(?:你|您)(?:根本|压根|还是|并|都|又)没(?:有)?(?:改|换|删|去掉|更新|动)|没(?:有)?(?:改|换|删)(?:啊|呀|$|[。!,])|我(?:明明)?(?:让|叫)(?:你|您)(?:删|改|换|去|不要|别|取消|把)",
)
_CALLED_WRONG = Marker(
    r"\byou(?:'re| are) (?:wrong|mistaken)\b|\byou(?:'ve| have)? (?:got|made) (?:it|that|this|a mistake|an error)(?: all)? ?(?:wrong|there|here)?[.!,]|\byour (?:\w+ )?(?:answer|reply|figure|number|calculation|date|price|total)s? (?:is|are|was|were) (?:wrong|incorrect|off|not right)\b",
    r"(?:你|您)(?:说|答|算|写|记|弄|搞|理解)错|(?:你|您)(?:的)?(?:回答|答案|说法|计算)(?:是)?(?:错|不对)",
)

PLAIN_COMPLAINTS: Mapping[str, Marker] = {
    "same_again": _SAME_AGAIN,
    "told_already": _TOLD_ALREADY,
    "not_answered": _NOT_ANSWERED,
    "said_otherwise": _SAID_OTHERWISE,
    "off_topic": _OFF_TOPIC,
    "not_changed": _NOT_CHANGED,
    "called_wrong": _CALLED_WRONG,
}
"""By the name of the complaint; matched against `normalise`d text."""
