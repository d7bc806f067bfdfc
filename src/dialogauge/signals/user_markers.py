"""Wordings by which people thank, correct, complain, and ask for more, in English and Chinese.

Written by us, matched against `normalise`d text: lower case, straight quotes, half-width punctuation.
Both languages stand in one pattern, since people mix them.
"""

from __future__ import annotations

from collections.abc import Mapping

from dialogauge.signals.markers import Marker

# ruff: noqa: E501 - a pattern is read as a whole, not in lines

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

_EARLY = "(?:already|just|clearly|literally|specifically|explicitly|previously|also|did)"
_SPOKE = "(?:said|told|wrote|gave|given|mentioned|explained|stated|specified|provided|answered|sent|typed|shared|listed)"
_ZH_EARLY = "(?:刚才|刚刚|刚|之前|前面|上面|一开始|最开始|早就|不是|已经|都|明明|当时|开头|第一句)"
_ZH_SPOKE = "(?:说|讲|告诉|提|发|写|给|回答|交代|强调)"

TOLD_ALREADY = Marker(
    rf"\bi(?:'ve| have)? {_EARLY} {_SPOKE}\b",
    rf"\bi(?:'ve| have)? {_SPOKE} (?:you|it|that|this|all|them|so)\b[^.?!]{{0,40}}\b(?:already|before|earlier|above|twice|once)",
    r"\b(?:as|like) i(?:'ve| have)?(?: already| just)? (?:said|mentioned|told|wrote|explained|stated)",
    r"\bi(?:'ve| have) (?:already )?told you",
    r"\bi told you\b",
    r"\bi said\b",
    r"\b(?:in|it'?s|it was|was|were|from) (?:in )?(?:my|the) (?:very )?(?:first|last|previous|earlier|opening) (?:message|thing|line|sentence|post|question)",
    r"\b(?:very )?first (?:thing|message|line) i (?:wrote|said|sent|told)",
    r"\bdid(?:n't)? (?:you|my last|my) [^.?!]{0,30}(?:read|see|get through|listen|hear|forget|remember|arrive|notice)",
    r"\b(?:have|did) you forgot?t?e?n?\b|\byou(?:'ve| have)? (?:forgot|forgotten|ignored|missed|overlooked|skipped)\b",
    r"\b(?:you|you not|you even) remember\b[^.!]{0,40}\?|\bscroll up\b|\bsee above\b|\bread (?:my|what i)\b|\byou asked (?:me )?(?:that|this) (?:already|before)",
    r"\b(?:i(?:'ve| have)?|you) already (?:answered|told|gave|given|said|mentioned|provided|sent|know|have (?:it|that|my))",
    rf"我{_ZH_EARLY}+(?:就)?(?:已经)?(?:跟你|和你|向你|给你|对你|跟您|给您)?{_ZH_SPOKE}过?",
    rf"我(?:跟你|和你|给你|跟您|给您)?{_ZH_SPOKE}过(?:了|的|啊|吧|呀|，|,|。|吗|$)",
    r"(?:忘了|忘记了?|不记得|没记住|记不住|没看|没注意|没听|没读)[^。！!]{0,12}(?:吗|吧|么|我|\?|？)|你忘|您忘|你是不是没|您是不是没|看(?:一?下)?(?:我)?(?:上面|前面|之前)(?:说|写|发)",
    r"(?:第一条|上一条|第一句)(?:消息|就|里|已经)?[^。]{0,8}(?:写|说|有|给|发)|(?:你|您)当时(?:还|也|都|不是|让|叫|自己)|不是(?:说|讲|告诉|提)过|都(?:告诉|跟)(?:你|您)",
    r"\b(?:what|everything|all) i (?:wrote|said|sent|told you|gave you)\b|\byou (?:already |still |do )*have (?:my|all|it|that|the) (?:\w+ )*already\b|\byou already have\b|\bwe(?:'ve| have) (?:been|gone|already been) (?:over|through) this|\bwe(?:'ve| have) (?:already )?(?:established|discussed|covered|settled)",
    r"\bdid(?:n't| not) i (?:just |already )?(?:say|tell|mention|give|write)|\bhaven't i (?:told|said)|, remember\?|\byou(?:'re| are) (?:recommending|suggesting|offering|giving|asking|proposing|telling)\b[^.?!]{0,60}\b(?:allerg|vegetarian|vegan|to someone|to me|who|after|although|even though)|\bi (?:just )?(?:said|told you|asked for|wrote|mentioned) (?:not|no|that|i|it|we)\b",
    r"(?:往|向)(?:上|回)(?:翻|看|找)|翻(?:翻|一下|看)(?:前面|上面|记录)|我?(?:早就?|刚|刚刚|才)(?:都|就)?(?:已经)?(?:跟你|给你)?(?:说|讲|给|发|告诉|写|提)过?(?:你|您)?(?:了|过)|刚(?:说|讲|提|发|给)过|一开始就(?:写|说|讲|发|给)|(?:你|您)(?:都|不是|已经)(?:有|知道)(?:了|我的|吗)?|明知",
)
"""The user says that it was told before."""

NOT_ASKED = Marker(
    r"\bthat(?:'s| is|'s really)? not (?:what|an answer|the (?:answer|question|one|point)|my question|answering|help|really what|quite what)",
    r"\b(?:doesn't|didn't|does not|did not|don't|hasn't|haven't|not|never) (?:really |actually |even )?(?:answer|address|respond)",
    r"\bnot (?:really )?(?:what|the thing) i (?:asked|wanted|meant|need|said|was asking|am asking)",
    r"\b(?:my|the) (?:actual |real |original )?question (?:was|is|remains)|\banswer (?:my|the|me)\b|\bi'?m (?:still )?asking\b|\bi (?:was|am) asking\b",
    r"\bi asked\b|\bi (?:did not|didn't|never) (?:ask|want|say|mean|mention|order|request)|\bi (?:don't|do not) (?:want|need) (?:this|that|these|those|another|any of)\b",
    r"\bwhat about (?:my|the) (?:question|request|actual)|\bstill (?:waiting|no answer|don't know|haven't|need (?:an|to know|the))",
    r"\b(?:fortune cookie|too vague|so vague|vague|generic|(?:empty|pleasant|nice|kind|fine|warm) words|just words|pleasantr\w+|platitude|brochure|boilerplate|non-?answer|dodg(?:e|ing)|evad(?:e|ing)|beating around)",
    r"\bcan you actually (?:answer|tell|give|say)|\bjust answer\b|\bstraight answer",
    r"我(?:是|刚才|刚刚|刚|要|想|明明)?(?:在)?(?:问|说|要|讲|指)的(?:是|不是|明明|可是)|我是(?:问|说|想问|想知道|要)|我(?:没有?|并没有?)(?:要|问|说|让|叫)(?!题|过什么)",
    r"(?:没有?|没在|并没有?|不|根本没)(?:正面)?(?:直接)?(?:回答|答|回应|解决)(?:我|到|上|问题|清楚)?|答非所问|所答非问|文不对题|避而不答|回避",
    r"(?:等于|跟)没(?:说|讲|回答)|空话|套话|废话|官话|太笼统|太空|太泛|泛泛|车轱辘|打太极|鸡汤|敷衍|糊弄|搪塞|一个[^。]{0,6}都没(?:说|给|有|提)",
    r"别再(?:绕|扯|岔|说这些|讲这些)|我的问题(?:是|呢)|问题(?:还)?没(?:有)?(?:回答|解决)",
    r"\b(?:lots?|plenty|so many) (?:of )?words\b|\bno (?:actual |real |clear )?answer\b|^(?:so|ok(?:ay)?,? so|right,? so|but)[, ]+(?:is it|which|what is it|do i|should i|can i|yes or no|a or b)\b|\bnice (?:speech|words|essay|sermon|lecture)|\bhow much (?:is it|does it cost) then|\b(?:you )?(?:haven't|have not|didn't|still haven't|never) (?:told|answered|said|given|explained|addressed|touched|mentioned)(?: me)?\b|\bnot (?:a )?(?:philosophy|poetry|sermon|lecture|history lesson|essay|slogan|pep talk|horoscope|advert\w*)|\bi need (?:a|an|the) (?:number|answer|figure|yes|date|name|decision)\b",
    r"\bwasn't asking\b|\bwas not asking\b|\bwasn't (?:my|the) question\b|\bwe were (?:talking|discussing|on)\b|\bnot (?:about|interested in) (?:that|this|\w+)[,;:.] ?i\b|\b(?:ok(?:ay)?|fine|lovely|great|nice|interesting)[,.]? but (?:what about|how about|where|when|how much|how|i (?:asked|need|want|wanted|meant)|that|my question|which)\b",
    r"(?:给|要)(?:个|句)(?:准话|准信|痛快话|明白话|数|数字|答案|结论)|说了(?:半天|这么多|一堆|一大堆)|到底(?:是|选|要|能|行|该|多少|几|哪|怎么|去|买|有没有)|所以(?:到底|是|我(?:该|要))|我(?:要|想要|需要)的是|我们(?:不是)?(?:在|刚才在)?(?:说|聊|谈|讨论)的?(?:不是|是)?|(?:你|您)(?:倒是)?(?:还)?没(?:有)?(?:说|告诉|回答|讲|给)(?!错)",
)
"""The user says that the question was not answered."""

SAID_OTHERWISE = Marker(
    r"\b(?:but |earlier |before |previously |just now |first |then )you(?:'d| had|'ve| have)?(?: just| also| yourself)? (?:said|told|wrote|claimed|mentioned|gave|listed|stated|promised|quoted|confirmed|recommended)",
    r"\byou (?:just |first |originally |yourself |clearly )?(?:said|told me|wrote|claimed|mentioned|stated|promised|quoted|confirmed)\b",
    r"\byour (?:own |first |last |earlier |previous |original )*(?:plan|answer|message|reply|list|table|schedule|quote|figure|numbers?|post) (?:has|had|says|said|shows?|showed|was|gave|lists?)",
    r"\bcontradict|\binconsistent|\bdoesn't (?:match|add up|fit)|\bdon't (?:match|add up)|\bwhich (?:one )?is (?:it|right|correct|true)\b|\bnow (?:it's|you say|you're saying|it is|you tell)|\ba (?:minute|moment) ago\b|\bchanged? your (?:mind|answer|tune|story)",
    r"(?:你|您)(?:自己|不是)?(?:刚才|刚刚|刚|之前|前面|上面|一开始|开头|当时|先前|明明|上次)(?:不是)?(?:亲口|自己|还)?(?:说|讲|写|给|告诉|列|推荐|报|答应|算|建议|提)",
    r"(?:刚才|之前|前面|上面|先前)(?:你|您)(?:不是|还|明明|亲口)?(?:说|讲|写|给|告诉|列|推荐|报|建议)|前后(?:矛盾|不一|说法)|自相矛盾|对不上|不一致|怎么(?:又|现在|这会儿|突然)?(?:变|成|改)(?:成|了)?|改口|哪个(?:是|才)?(?:对|准|真)|以哪个为准|两个说法",
    r"\b(?:numbers?|figures?|dates?|prices?|times?|answers?|statements?|versions?|two|these|those|they) (?:don't|do not|doesn't|does not) (?:agree|match|fit|add up|line up|tally)|\bfirst [^.?!]{1,40}(?:,|and|then)+ ?(?:then|now) [^.?!]{1,40}\b|\bwhich (?:one|of (?:them|the two|these))\?|\b(?:just now|before|earlier|yesterday|on \w+day|last time|two messages ago|at the start)[, ]+(?:you|it was|it said|that was)\b",
    r"(?:昨天|刚才|之前|前面|上次|先前|一开始)[^。!?]{1,20}(?:现在|这会儿|怎么|又)(?:又|却|变|成|说|是)|(?:跟|和|与)(?:你|您)?(?:上面|前面|之前|刚才)[^。]{0,12}(?:不一样|不同|不符|矛盾)|两个(?:数|说法|日期|价格|答案)",
)
"""The user holds an earlier statement of the assistant against a later one."""

AGAIN = Marker(
    r"\b(?:same|identical) (?:\w+ )?(?:list|answer|thing|reply|response|message|question|text|advice|suggestions?|paragraph|words|steps|tips)",
    r"\b(?:you|that) (?:keep|kept|just repeat|are repeating|'re repeating|repeated|already (?:said|told|gave|sent|suggested|asked|wrote|listed|recommended))",
    r"\byou(?:'ve| have)? (?:already |just )?(?:gave|given|sent|said|told|suggested|asked|wrote|posted)[^.?!]{0,30}\b(?:before|already|earlier|twice|again|last time)",
    r"\bword for word\b|\bto the letter\b|\bverbatim\b|\bcop(?:y|ied)[- ](?:and[- ])?past|\bbroken record|\bin circles\b|\bd[eé]j[aà] vu\b|^again\?|\bstop repeating|\brepeat(?:ing)? yourself|\bgoing round",
    r"(?:一模一样|一字不差|一字不落|原封不动|原样|照搬|复制粘贴|复读|车轱辘话|重复(?:了|的|一遍|回答|上|前|同)|又是(?:这|那|同|一样)|又(?:来|说|发|给|问)(?:了)?一遍|同样的(?:话|回答|内容|建议|问题)|还是(?:那|这|同|一样|刚才|上面|之前)|跟(?:刚才|上面|前面|之前|上次)[^。]{0,8}(?:一样|相同)|和(?:刚才|上面|前面|之前|上次)[^。]{0,8}(?:一样|相同)|怎么又(?:是|说|来|发|问|给)|(?:刚才|前面|之前|上面)(?:已经)?(?:发|说|给|讲|问)过(?:了|的)?|别(?:再)?重复|不要(?:再)?重复|卡住了|死循环|转圈)",
    r"\b(?:is this|are you) (?:a )?(?:recording|bot|broken|stuck|script)|\bfrom (?:before|earlier|last time|above)\b|\bi(?:'ve| have) (?:already )?(?:tried|done|read|seen|heard|got) (?:all (?:of )?)?(?:these|this|that|those|them|it)\b[^.?!]{0,30}(?:already|before|as you know|twice|remember|all)?|\balready (?:tried|done|did|read|seen|heard)|\bwe(?:'re| are) going (?:round|around)|\bsecond time (?:you|i)",
    r"(?:不就是|就是|还是)(?:你|您)?(?:刚才|上面|前面|之前)(?:那|的|说)|(?:这些|这个|这几[步条招]|都|已经)(?:我)?(?:都|已经|全)?(?:试|做|看|读)过(?:了|一遍)|(?:你|您)前面就|又让我|第[二三四]次",
)
"""The user says that the assistant repeats itself."""

OFF_TOPIC = Marker(
    r"\b(?:off[- ]topic|unrelated|irrelevant|beside the point|changing the subject|wrong (?:topic|thread|conversation|chat))\b",
    r"\bwhat (?:does|do|has|have) (?:that|this|it|they|any of)[^?]{0,40} to do with|\b(?:nothing|anything) to do with|\bwhy are you (?:talking|telling|going on)|\bhow did we get|\bwhere did that come from|^(?:ok\w*,? |so,? |anyway,? |right,? )?back to (?:my|the|our)\b|\bback to (?:my|the) (?:question|topic|point|actual|original (?:question|topic))|\bnot (?:about|the) [^.?!]{0,30}\bi(?:'m| was| am| asked)|\bcan we (?:get|go|come) back to",
    r"跑题|离题|偏题|扯(?:到|远|什么|这|那)|说(?:到)?(?:哪|那)(?:儿|里)?去了|(?:有|跟|和)(?:什么|啥|半点)?关系\?|(?:有什么|没|毫无|有啥)关系|不相关|无关|不搭|风马牛|回到(?:正题|我|刚才|原来|主题)|言归正传|怎么(?:扯|说|聊|讲)(?:到|起)|不是(?:让|叫|问|要)(?:你|您)",
    r"\bgot to do with\b|^(?:\w+ ?){1,2}\? (?:i (?:asked|was asking|meant|want|need)|we were|my question)|(?:讲|说|聊|扯|谈|提)[^,。?]{1,6}(?:干嘛|干什么|做什么|干啥)|我(?:又|可|根本|压根)?没(?:有)?(?:问|要聊|想聊)(?!题|过)[^,。?!]{1,10}[,。!…]|\bi (?:did not|didn't|never|wasn't) ask(?:ing|ed)? (?:you )?(?:about|for)\b|怎么(?:你)?(?:突然)?(?:聊|说|讲|扯|谈)起",
)
"""The user says that the reply was about something else."""

WRONG = Marker(
    r"(?<!if )\b(?:that|this|it|which|those|these)(?:'s| is| was|'re| are| looks?| seems?| sounds?)(?: just| clearly| also| still| all| completely| simply| totally| plain)? (?:wrong|incorrect|not right|not correct|not true|not how|false|mistaken|an error|a mistake|outdated|nonsense)\b",
    r"(?<!if )\b(?:that|this|it)(?: isn't| wasn't| can't be| doesn't (?:look|sound|seem)) (?:right|correct|true)\b",
    r"\byou(?:'re| are|'ve| have)? (?:got (?:it|that|this|the \w+) wrong|mistaken|wrong|misunderst\w+|mix(?:ed|ing) (?:it|that|them|things|up)|confus\w+|made (?:a|an|the same) (?:mistake|error)|misread)\b|\bwrong (?:answer|order|number|date|day|name|person|place|file|price|size|city|one|room|year|month|time)\b|\bhas nothing\b[^.?!]{0,10}$|\bmisunderst",
    r"(?:这|那|你说的?|您说的?|答案|结果|数字|日期|名字|价格|算|地址)?(?:都|就|是|完全|明显|根本|好像)?(?:不对(?!劲|称)|错了|有误|搞错|弄错|算错|说错了吧|写错了吧|误会|理解错|不正确|不准确|不符)|数都是错",
)
"""The user says that the reply is wrong."""

OBJECTS = Marker(
    r"^(?:no|nope|nah|um,? no|hm+,? no|wait|hold on|hang on)\b[,.!:; -](?! ?(?:that'?s (?:all|it|fine|ok|every|good|great|perfect)|thanks|thank|problem|worries|need))",
    r"(?<!if )\b(?:doesn't|didn't|does not|did not|won't|still (?:doesn't|not|isn't|won't|can't)) (?:work|help|exist|appear|show|make sense|fix)\b|\bi meant\b|\bactually,? (?:no|it's|it is|the|my|that)\b|\bshould (?:have been|be) \b[^?]*\bnot\b|\bcorrection\b",
    r"不是(?:这|那)(?:样|个|意思|么)|(?<!得)(?<!行)不行|没用|不管用|还是(?:不|没|有问题|报错)|不是[^,。,?？]{1,14},(?:而)?是|应该是[^?？]{0,20}(?:不是|而不是|才对)|更正|纠正|等等[,，。!]|等一下|且慢|慢着|我的意思是|我指的是|说的不是",
)
"""The user objects, corrects or takes something back."""

UNCHANGED = Marker(
    r"\b(?:you (?:changed|fixed|removed|updated|did) nothing|(?:it|that|this|there|which)(?:'s| is| has|'re| are)? still (?:the (?:old|same|wrong)|there|in|not|has|says?|shows?|includes?|wrong|missing)|still (?:the (?:old|same|wrong|original)|wrong|there|in (?:it|the)|has|says?|includes?|contains?|missing|not (?:fixed|changed|removed|right|there))|(?:is|are) still (?:in|on|there|wrong|the)|not (?:changed|removed|fixed|updated)|you(?:'ve| have)? (?:left|kept|put) (?:it|that|them|the \w+) (?:in|back)|you added (?:more|another|even)|(?:i|we) (?:just )?(?:asked|told|said to|wanted) (?:you )?(?:to|for) (?:\w+ ){0,4}(?:remove|change|drop|leave|take|delete|fix|skip|not|stop|avoid|replace|swap)|i (?:just )?said (?:not|no|without)|read my (?:last )?message again|(?:the )?(?:exact )?(?:opposite|reverse|contrary) of what (?:i|we))\b",
    r"还是(?:旧|老|原来|那个|上次|错|一样|没|有)|(?:你|您)?(?:根本|压根|还是|并|都)?没(?:有)?(?:改|换|删|去掉|更新|变|动|按)|我(?:让|叫|要|请)(?:你|您)(?:删|改|换|去|不要|别|取消|把)|怎么(?:还|反而)(?:是|有|在|加|没|留)|(?:依然|仍然|仍旧|照样)(?:是|有|在|没)|没听(?:见|到|进)|(?:还|又)(?:加|多|放|写)(?:了|上)",
)
"""The user says that the change they asked for was not made."""

CHANGE = Marker(
    r"\b(?:can|could|would|will) you (?:please )?(?:fix|change|correct|update|swap|replace|remove|drop|revise|redo|adjust)\b",
    r"\b(?:take|leave|cut|drop|remove|strike|skip|scrap|cancel)\b[^.?!]{0,40}\b(?:out|off|instead|please|it|that|them|altogether)\b|\b(?:has|have) to go(?: though| please)?[,.!;]|\b(?:has|have) to go$|\bplease (?:change|correct|fix|update|remove|replace|drop|switch|swap|take|leave|cut|revise|redo|use)",
    r"\bmake (?:it|that|this) (?:on |at |for )?(?:the )?(?:mon|tues|wednes|thurs|fri|satur|sun|\d|two\b|three\b|four\b|five\b|six\b|ten\b)",
    r"\b(?:change|switch|move|make|correct|update|swap|replace|turn) (?:it|that|this|them|the \w+|my \w+)\b[^.?!]{0,30} (?:to|with|into|from|by)\b|\binstead\b|\bno longer\b|\bnot anymore\b|\b(?:it'?s|make (?:it|that)|should be|needs? to be|has to be|must be)\b[^.?!]{1,40}\bnot\b",
    r"(?:请|麻烦|帮我)?(?:改成|改为|换成|换为|改到|换到|改回|换回|改一下|改按|替换|去掉|删掉|删除|删了|拿掉|取消|不要再|别再|撤掉|剔除|调整为|调整成|更正为)|不要[^，。?？]{1,12}了|而不是",
)
"""The user asks to change something that was said or planned."""

SELF_CORRECTION = Marker(
    r"\b(?:sorry|oops|apologies|whoops|ah|oh|my bad|my mistake|my fault)\b[^.?!]{0,25}\bi (?:gave|wrote|said|meant|mistyped|misread|mixed|got|typed|misspoke|was wrong|told|made|forgot|should have)",
    r"\bmy (?:bad|mistake|error|fault|typo)\b|\bi (?:mistyped|misspoke|misread|misremembered|was (?:wrong|mistaken)|made a (?:mistake|typo)|mixed (?:it|them|that|up|those)|changed my mind|got (?:that|it|the \w+) wrong|gave you the wrong|typed the wrong|wrote the wrong)|\bi'?ve changed my mind|\btypo\b|\bon second thoughts?|\bscratch that|\bslip of",
    r"我(?:自己)?(?:刚才|刚刚|之前|前面|可能)?(?:记|说|拿|打|写|看|弄|搞|发|报|填|选|算|听|输)(?:错|反|混|岔|漏|串|走眼|颠倒)|打错字|手误|口误|笔误|我(?:又)?改(?:主意|变主意|变想法)|(?<!不)是我(?:的|自己的)(?:错|失误|问题)|是我(?:没|不|弄|搞|记|看|说)|我(?:想|考虑)了(?:一下|想)|补充(?:一)?(?:下|点)|我忘了说",
)
"""The user corrects what the user said: no fault of the assistant."""

DOUBT = Marker(
    r"\b(?:are you|you) (?:really |quite |absolutely )?sure\b|\breally (?:in|there|booked|true|done|sent|exist|placed|saved|so|confirmed)\b|\bis (?:this|that|it) (?:really|actually|true|correct|real)|\bwhere (?:did|do|are) you (?:get|got|see|saw|find|found|getting|reading)|\b(?:did|has|have|was|were) (?:it|that|you|the \w+)(?: \w+){0,2} (?:really|actually)\b",
    r"\b(?:i|we) (?:just |also |have |'ve )*(?:checked|looked|searched|tried|called|rang|phoned|asked)\b[^?]{0,80}\b(?:no(?:thing|body|ne)?|not|n't|empty|can't|never|different|closed|shut|wrong|gone|missing|zero)\b",
    r"\b(?:nothing|no (?:e-?mail|confirmation|booking|order|record|such|sign|trace|refund|reservation|message|file|entry|ticket|charge|event|meeting))\b[^.?!]{0,40}\b(?:arrived|came|there|found|exists?|shows?|showed|yet|received|appear\w*|anywhere)\b|\b(?:haven't|have not|didn't|never|not) (?:received|gotten?|seen|arrived|come)|\bmade (?:that|it|this|them|those) up\b|\binvent|\bhallucinat|\bdoesn't exist|\bdo(?:es)? not exist|\bcan't find (?:it|that|any|the)",
    r"(?:你|您)?(?:确定|真的|当真|确认)(?:吗|有|是|订|下|发|预|成功|已经|能|查|问|看|试|\?|么)|(?:从|在)哪(?:儿|里)?(?:看|查|来|得)(?:到|的|来)|哪来的|依据|根据什么|编的|瞎编|胡说|捏造|凭空|查不到|找不到|没(?:有)?(?:收到|查到|看到|找到|见到|显示|这个|这|成功)|(?:一|半)(?:辆|个|条|张|单|份|件|封|间|家)都没|根本没|压根没|实际上没|明明(?:没|不|是|显示|写)",
    r"\b(?:says?|told me|claims?|shows?) (?:that )?(?:there(?:'s| is| was| were|'re| are)? )?(?:no|not|nothing|never)\b|\bnever (?:heard|received|got|arrived|came|saw)|\bno such\b|\bwhere did (?:that|this|the|those|these) \w+ (?:come|came)|\b(?:go|gone|went) through\?|(?:没|没有)(?:这|我的|那)(?:笔|个|趟|条|单|家|航班|预订|订单|记录|预约|款)",
)
"""The user doubts that something is so or was done."""

FRUSTRATION = Marker(
    r"\b(?:come on|seriously|for (?:god|heaven|pete)'?s sake|ridiculous|useless|unhelpful|not helpful|waste of|disappoint\w*|frustrat\w*|annoy\w*|terrible|awful|hopeless|pointless|give up|forget it|never mind|nevermind|unbelievable|absurd|nonsense|silly|joking|kidding|are you even|sigh|ugh+|argh+|wtf|damn|jeez|really\?!?$)\b",
    r"\b(?:this|that|it) (?:is|was)(?:n't| not) (?:helping|helpful|good enough|acceptable|ok|okay)|\bspeak (?:to|with) (?:a |an )?(?:human|person|manager|supervisor|agent)|\bi(?:'m| am) (?:losing|fed up|tired of|sick of|confused|lost|done|out of patience)|\?\?+|!\?|\?!|\bhow (?:hard|difficult) (?:can|is)|\bthird time\b|\bonce more\b|\bfor the (?:second|third|last|hundredth) time",
    r"离谱|无语|算了吧?|失望|没意思|没用|垃圾|气死|(?<!麻)烦(?!请|您|你|恼)|(?<!说)服了|搞什么|什么(?:玩意|鬼|意思)啊?|莫名其妙|受不了|开(?:什么)?玩笑|浪费时间|不想说了|投诉|转人工|人工客服|行不行啊|有没有搞错|太差|不满意|第[二三四五]遍|最后一遍|再说一遍[:：,，]|[?？]{2,}|\.{3,}(?:我|你|您|这)|怎么(?:会|能)这样|敷衍|(?:有完|没完)没",
)
"""The user is annoyed."""

THANKS = Marker(
    r"\b(?:thanks|thank you|thx|ty|cheers|much appreciated|appreciate (?:it|that|your|the)|perfect|great|awesome|excellent|wonderful|brilliant|amazing|fantastic|lovely|exactly what|that helps|very helpful|that works|works (?:now|great|perfectly)|sounds (?:good|great)|love (?:it|that|this)|good (?:idea|point|advice)|nice|got it|makes sense|spot on|well done|solved|fixed it)\b",
    r"谢谢|多谢|感谢|谢啦|谢了|辛苦|太好了|太棒|真棒|很棒|不错|很好|挺好|完美|好的|好呀|好主意|有用|有帮助|帮大忙|明白了|懂了|清楚了|搞定|解决了|成功了|可以了|满意|喜欢|赞|厉害|对上了|就这(?:个|样|么)",
)
"""The user thanks or approves."""

CLOSING = Marker(
    r"\b(?:bye|goodbye|good night|take care|see you|that'?s (?:all|it|everything)|that (?:is|will be|'ll be) all|nothing else|no(?:pe)?,? (?:that'?s|thanks|thank)|i'?m (?:all )?(?:good|set|done)|all set|have a (?:good|great|nice|wonderful|lovely)|you too|thank(?:s| you)(?: so much| a lot| very much| again)?[.! ]*$|all in place|all done|stop###)\b",
    r"再见|拜拜|晚安|回头见|没(?:有)?(?:别的|其他|其它|问题)了|就(?:这些|这样|到这)|(?:谢谢|多谢|感谢|辛苦)[^?？]{0,12}$|不用了|没事了|够了",
)
"""The user ends the conversation."""

MORE_DETAIL = Marker(
    r"\bmore (?:detail\w*|specific|concrete|precise|in[- ]depth|thorough)|\b(?:elaborate|expand on|be (?:more )?specific|in (?:more |greater )?detail|step by step|too (?:short|brief|general|vague|generic)|flesh (?:it|this|that) out)\b",
    r"(?:更|再|太|不够|不太)(?:加)?(?:详细|具体|细致|细化|深入|明确|精确|完整|清楚|全面)|(?:详细|具体|细化|深入)(?:一?点|一?些|到)|太(?:简单|简略|笼统|粗)|请(?:详细|具体)|展开(?:说|讲)|细(?:说|化)",
)
"""The user asks for more detail than was given."""

REJECTS = Marker(
    r"\bi (?:don't|do not|didn't) (?:really |much )?(?:like|want|care for|fancy) (?:it|that|this|these|those|any|the|your)\b|\bnot (?:really |quite )?(?:my (?:thing|taste|style)|for me\b|what i (?:had in mind|was hoping for|was looking for))",
    r"\b(?:that|this|it|they|these|those)(?:'s|'re)?(?: is| are| seems?| sounds?| looks?)? (?:all )?(?:a (?:bit|little) |much |way |far |rather |still |just )?too (?!much for the help|good|kind)\w+|\b(?:something|anything|somewhere|anywhere) (?:cheaper|simpler|easier|closer|smaller|quicker)\b",
    r"换(?:一|个|成|别|掉|点|些|几)|重新(?:生成|推荐|来|规划|安排|做|给|搭配|设计|制定|选)",
    r"(?:不|没那么)(?:太|怎么|是很|大)?(?:喜欢|满意|合适|适合|感兴趣|爱吃|想吃|想去)|太(?:贵|远|多|麻烦|累|普通|长|复杂|难|简单|少|赶|紧|辣|油|俗)|有点(?:贵|多|远|难|复杂|麻烦|累|赶)",
)
"""The user rejects what was proposed."""

WANTS_OTHER = Marker(
    r"(?<!\bneed )\b(?:something|anything|somewhere|anywhere) (?:else|different)\b|\b(?:any|some) other (?:ideas?|options?|suggestions?|choices?|ones?)\b|\b(?:give|suggest|show|recommend|offer) (?:me )?(?:another|others|something else|(?:some )?different)\b|\b(?:a )?different (?:ones?|ideas?|options?|suggestions?)\b",
    r"(?:有没有|有什么|还有|推荐)(?:没有)?(?:别的|其他|其它)|别的(?:吗|么|呢)",
)
"""The user wants something beside or in place of what was proposed."""

LEFT_OUT = Marker(
    r"\byou(?:'ve| have)? (?:left out|missed out|forgot(?:ten)? (?:to|about)|omitted|skipped)\b|\byou (?:didn't|did not|haven't|have not|never) (?:even )?(?:include|list|mention|give me|provide|add|put in|say how|tell me how)\b|\b(?:is|are) missing (?:from|in) (?:the|your|this)\b|\bwhere (?:is|are|did) the \w+ (?:go\b|gone)",
    r"\b(?:link|url|page|site|address|number)s? (?:(?:is|are) (?:dead|broken|fake|wrong|invalid)|(?:doesn't|don't|does not|do not|won't) (?:work|open|exist|load))|\bi (?:can't|cannot|don't|do not) (?:understand|follow|read|make sense of) (?:this|that|it|any of (?:this|it)|your|what you)",
    r"(?:你|您)(?:上面|这里|这个)?(?:没有?|忘了|忘记|漏了|漏掉|少了)(?:列|写|给|提|说|包|安排|标|加|考虑|我)|(?:怎么|为什么)(?:不见了?|没有?(?:了|列|写|给|提|安排))|不见了|(?:看不懂|没看懂|看不明白|看不到|打不开|点不开|用不了|不存在|虚假|失效|过期了|无效)(?!怎么办)|缺(?:少|了)|(?:没有|少了)(?:素菜|荤菜|价格|链接|图片|时间|地址)",
)
"""The user says that something is missing, or that what was given cannot be used."""

OTHER_OPTIONS = Marker(
    r"\b(?:another|other|different|else|alternative\w*|something else|any others?|more (?:options|ideas|suggestions|choices))\b",
    r"换(?:一|个|成|别|其他)|别的|其他|其它|另外(?:的|一)|还有(?:什么|没有|别|其)|更多|多(?:给|来|推荐|一些|几)|重新(?:生成|推荐|来|规划|安排|做|给)|不(?:太)?(?:喜欢|想要|满意|合适|适合)|太(?:贵|远|多|麻烦|累|普通|长|复杂|难)",
)
"""The user asks for something other than was given."""

REPEAT_PLEASE = Marker(
    r"\bwhat (?:was|were) (?:that|those|it|the \w+)(?: again)?\?|\b(?:phone|battery|browser|tab|app|window|connection|screen|page|chat)\b[^.?!]{0,20}\b(?:died|crashed|closed|froze|gone|lost|reloaded)|\bi(?:'ve| have)? (?:just )?(?:missed|lost|closed|deleted) (?:that|it|your|the (?:tab|page|window|message|list|note))|\bdidn't (?:catch|get|save|note) (?:that|it|your|them)|\bwhat did you (?:say|write|call)|\bwhich (?:one )?was (?:it|that)\b",
    r"没(?:听|看|记)清|没(?:存|记|抄|保存)(?:下来?|住)|(?:手机|网页|页面|电脑|屏幕)[^。]{0,6}(?:没电|死机|关了|卡了|刷新|黑了)|来着|刚才(?:说|写|发)的[^。]{0,6}(?:是什么|是啥|多少|哪)",
    r"\b(?:repeat|again|once more|one more time|remind me|say that|send (?:it|that|me)|resend|in one place|all together|summar\w+|recap|final (?:version|plan|list|timetable|budget)|put (?:it|that|everything|this) together|full (?:list|plan|version|text)|whole (?:thing|list|plan)|go over|show me the|list (?:them|it|all)|just so i|make sure i|double[- ]check|confirm)\b",
    r"再(?:说|发|讲|给|列|来|念|报|写|确认)(?:我|一|下|遍)?|重(?:复|新|发)|总结|汇总|整合|整理|合并|合在一起|最终版|完整|全部|一遍|提醒(?:我|一下)|确认一下|核对|复述|帮我捋|对一(?:遍|下)",
)
"""The user wants to have something again: repeating it is right."""
