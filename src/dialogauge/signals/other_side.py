"""A user who speaks as the other side: by a label, a name, the voice of a service, or the other's deeds.

What a sentence says of persons decides: who speaks, who is addressed, and whose things are spoken of. What
only a service says counts where the other side is one: a guest may do something for the keeper of a hut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from dialogauge.core.patterns import lazy_pattern
from dialogauge.text import content_terms, normalise, pieces, sentences

# ruff: noqa: E501, SIM905 - a pattern is read as a whole, and so is a list of words

_HAN: Final = "\u3400-\u9fff"
_CAPITAL: Final = r"[A-Z][\w'’.-]*(?: [A-Z][\w'’-]*){0,3}"
_NAMED: Final = lazy_pattern(
    rf"\b(?i:you are|you're|your name is|you play|playing|role of|play the part of|act as|you are[^.\n]{{0,60}}\b(?:named|called)|name\s*[:：]|character\s*[:：])\s*(?i:the |an? |now )?({_CAPITAL})|^\W*({_CAPITAL})(?=[,:，：]| is\b)"
)
_NAMED_HAN: Final = lazy_pattern(
    rf"(?:你(?:就|现在)?(?:是|叫)|扮演|名叫|(?:名字|姓名|角色|名称)[是为:：])\s*(?:一[个位名])?([{_HAN}·]{{2,20}})|^\W*([{_HAN}·]{{2,6}})(?=[,，:：])"
)
_OWN_NAME: Final = lazy_pattern(
    rf"(?:(?i:\bi am|\bi'm|\bi’m|\bmy name is|\bcall me) |^)({_CAPITAL})|我(?:叫|是|姓|名叫)([{_HAN}]{{2,6}})"
)
"""How a persona gives the user's own name."""
_TRADE: Final = lazy_pattern(
    r"(?i:\byou are|\byou're|, \d+,)[^.\n]{0,60}?\b(?:an?|the) (?:[\w-]+ ){0,3}?([a-z-]{4,})(?=[,.;]| who\b| of\b| on\b| at\b| that\b| in\b| from\b| and\b)"
)
_TITLES: Final = "mr mrs ms miss dr sir the a an old new professor".split()
_LABEL: Final = lazy_pattern(
    rf"^[\s*_\[【《<(（]*([^\W\d_][\w .'’·{_HAN}-]{{0,30}}?)(?:[*_\]】)）\s]*[:：]|[\]】》])(?=\s*\S)",
    re.MULTILINE,
)
_ROLES: Final = "assistant ai bot chatbot agent character support system model 助手 客服 机器人 角色 助理 系统 模型 人工智能".split()
_AI: Final = r"(?:ai\b|artificial intelligence|(?:large )?language model|chat ?bot|virtual|digital|automated)"
_MACHINE: Final = lazy_pattern(
    rf"\b(?:as|being) (?:an?|your) (?:\w+ ){{0,2}}(?:{_AI}[\w -]{{0,30}}|assistant),? i\b|\bi(?:'m| am) (?:just |only |actually |merely )?(?:an?|your) (?:\w+ ){{0,2}}(?:{_AI}(?: language)?(?: (?:model|assistant|agent|system|bot|program))?|assistant)(?=[\s,.!;]*$|[,.!;]| (?:and|so|here|designed|trained|that|created|built|without|from)\b)"
    r"|(?<![你您])(?:作为|身为)(?:一[个名款种]|您的|你的)?[^,，。]{0,6}(?:ai|人工智能|语言模型|智能助[手理]|机器人|客服|助[手理])[^,，。]{0,6}[,，]?\s*我|(?<!以为)(?<!当)我(?:只|就|其实)?是(?:一[个名款种]|您的|你的)?[^,，。?？吗]{0,6}(?:\bai\b|ai(?=[助模语客,，。]|$)|人工智能|语言模型|智能助[手理]|机器人|客服|虚拟助[手理])(?![^,，。?？]{0,6}[吗?？])"
)
"""Says of itself that it is a machine or the assistant."""
_OFFERS: Final = lazy_pattern(
    r"\bhow (?:can|may|could|might) (?:i|we) (?:\w+ )?(?:help|assist|be of (?:help|service|assistance)|serve)\b(?! (?:him|her|them|my)\b)|\bwhat (?:can|may|could) (?:i|we) (?:help|assist) you with|\b(?:any|some)thing else (?:that )?(?:i|we) (?:can|could|may|might) (?:do for you|help|assist)|\b(?:any|some)thing else (?:that )?you(?:'d| would)? (?:like|need)[^.?!]{0,12} (?:help|assistance) with|\b(?:i|we)(?:'m| am|'re| are|'d be| would be|'ll be)(?: \w+)? (?:happy|glad|delighted|pleased|here) to assist\b|\b(?:i|we) (?:can|could|will|'ll|would|am able to) (?:\w+ )?assist you\b|\bassist you (?:with|today|further)|\b(?:thank you|thanks) for (?:contacting|calling|choosing|reaching out to (?:us|our)|shopping (?:at|with)|your (?:order|purchase|business|booking|inquiry|enquiry|interest in our))\b"
    r"|(?:有|还有)?(?:什么|哪些|啥|其他|别的)[^,，。?？]{0,8}(?:可以|能|需要)(?:我)?(?:帮|为|协助|服务)(?:到|助)?(?:您|你)|(?:还有|有)(?:什么|其他|其它|别的)[^,，。?？]{0,6}需要(?:我)?(?:帮|协助|服务)|(?:很高兴|乐意|竭诚)(?:为|能为|能帮)(?:您|你)|为(?:您|你)服务|很高兴[^,，。]{0,3}[为帮][^,，。]{0,3}[您你]|有(?:其他|别的|任何|什么)?(?:问题|疑问|需要)[^。]{0,8}随时(?:问|告诉|联系|找|跟|向)我|需要(?:什么|哪些)(?:样的)?(?:帮助|服务|帮忙)|感谢(?:您|你)的?(?:来电|致电|咨询|惠顾|光临|使用|选择|反馈|提问|信任)|(?:欢迎|随时)(?:再次)?(?:光临|来电|咨询|向我提问|联系我们|告诉我您)"
)
"""The formulas of assistants: an offer of help, thanks for the custom."""
_DO_FOR_YOU: Final = r"(?:book|check|cancel|process|arrang|look|pull|updat|chang|issu|refund|reserv|submit|regist|transfer|schedul|order|send|sent|set up|add|remov|fix|note|confirm|renew|extend|open|creat|mov|plac|sort|waiv|forward)\w*"
_IDS: Final = r"(?:\w+ ){0,2}(?:(?:order|booking|reservation|member\w*|account|card|confirmation|tracking|customer|ticket|policy|passport|loyalty|user|reference|serial) ?(?:number|code|id|details|no)|(?:last|full|first) name|date of birth|e-?mail address|zip ?code|postcode)\b"
_SERVES: Final = lazy_pattern(
    rf"(?<!can )(?<!could )(?<!may )(?<!should )(?<!shall )(?<!if )\b(?:i|we)(?:'ve| have|'ll| will| can| could|'m going to| am going to)?(?: just| now| already| also| gladly| certainly)? {_DO_FOR_YOU}\b[^.?!]{{0,50}}\b(?:for you\b(?! to)|your (?!help|time|patience|assistance|website|app|end|side|site|system|store|shop|answer|advice|reply|message|suggestion|recommendation|list|plan))|\blet me (?:just |quickly )?{_DO_FOR_YOU}\b[^.?!]{{0,40}}\b(?:for you\b|your )|\b(?:would|do) you (?:like|want) (?:me|us) to (?:\w+ )?{_DO_FOR_YOU}|\byour [^.?!]{{1,40}} (?:has|have|will|is|are)(?: now| already)? (?:been|be|being)(?: successfully| now)? {_DO_FOR_YOU}"
    r"|(?:^|[.!?;,] (?:and |then )?)you(?:'ll| will) (?:receive|get|be (?:able|notified|contacted|charged|refunded|sent|called)|need to (?:provide|bring|show|pay|sign|send)|find|hear)\b(?![^.?!]*\bmy\b)"
    rf"|(?:\b(?:please|can|could|may|would|will|might|what(?:'s| is)|kindly)\b[^.?!]{{0,40}}\byour {_IDS}(?![^.?!]*\bmy\b))"
    r"|\bwe (?:sincerely |do |deeply )?apologi[sz]e\b|\b(?:we|i)(?: would|'d)? (?:be )?(?:delighted|pleased|happy|glad) to (?:welcome|have|serve|offer|help) you|\b(?:i|we)(?: can|'ll| will| could) (?:certainly |definitely |gladly |surely )?help you with (?:that|this|your)|\b(?:contact|call|e-?mail|text|notify|refund|reach|transfer|connect|inform) you (?:shortly|soon|within|back|as soon|by|when|once|with|to)\b|\bfeel free to (?:ask|reach out|contact|let me know if you)\b|\blet me know if you (?:need|have) (?:any|anything|more|further)\b(?![^.?!]*\b(?:my|me|to)\b)(?![^.?!]*(?:details|information))|(?:^|[.!?;,] )(?:sorry,? |yes,? |no,? )?we (?:only |also |do )?(?:close|open|offer|accept|provide|deliver|ship|charge|require|stock|sell|recommend|serve)\b|\bi(?:'d| would)? (?:highly |strongly )?(?:recommend|suggest) (?:you|that you|trying|taking|checking|starting|the)\b"
    r"|(?:^|[.!?;,] )you (?:can|could|should|might)(?: also| want to)? (?:try|visit|consider|start (?:by|with))\b(?![^.?!]*\bmy\b)|\b(?:which|what|when|where|how many)\b[^.?!]{0,40}\b(?:would you (?:prefer|like|want)|do you (?:prefer|want))\b(?![^?]*\b(?:my|me)\b)|\bwould you (?:prefer|like (?:to|a|an|the))\b(?![^?]*\b(?:my|me)\b)|\bhave you (?:already )?(?:tried|checked|restarted)\b|\bwhat seems to be the (?:problem|issue|trouble)|\b(?:glad|happy) (?:i|we) (?:could|can) help|\bdo you have (?:any|a|an) (?:\w+ )?(?:requirements?|preferences?|allerg\w+|questions|concerns|special \w+|specific \w+)\b|^(?:great|excellent|wonderful|fantastic) choice\b|\blet me know how (?:it|your|that|they)\b|\bif you have (?:any )?(?:other|more|further|additional)? ?questions\b"
    r"|\bi (?:can )?see (?:that |here )?(?:that )?(?:your (?!point|problem)|you(?:'ve| have)? (?:ordered|booked|bought|paid|requested|placed))|\b(?:i|we)(?:'ll| will) take (?:good )?care of (?:your|(?:it|that|this) (?:for you|right away|now))|\b(?:i|we) (?:\w+ )?understand your (?:frustration|concerns?|disappointment)|\byou(?:'re| are)(?: now| already)? (?:all set|set for|booked|confirmed|registered|good to go|checked in|eligible|entitled|enrolled)\b|\bthat(?:'ll| will) be [\d$£€]|\bwe(?:'ll| will| can| could|'d)(?! (?:see|call|meet|wait|let|pay|tell|send|give|need|be there)\b)[^.?!]{0,60}\b(?:you|your)\b|\b(?:i|we)(?:'ll| will|'ve| have) (?:just )?(?:sen[dt]|e-?mail|arrang|dispatch)\w* (?:you )?(?:an?|the) (?:\w+ )?(?:technician|link|code|form|confirmation|label|replacement|refund|receipt|copy|voucher|engineer|mechanic|courier|e-?mail|text)\b"
    r"|\bhere are (?:some|a few|the|two|three|four|five|your) (?:\w+ )?(?:tips|ideas|options|steps|suggestions|recommendations|ways)\b|\bour (?:\w+ )?(?:polic(?:y|ies)|records|systems?|customers?|guests|technicians?|opening hours|support|menu|warehouse|members|specialists?|agents?|representatives?)\b|(?:为|替|帮|给)您(?!添|说|讲|发|打|提供|看(?!一?下)|拍|报|念|转(?!人工|接)|付|截|带(?!来)|写|画|送)|(?:为|替|帮|给)你[^,，。?？]{0,6}(?:办|查|处理|登记|安排|预[订定]|退[款货]|核[实对]|转接|申请|推荐|取消|下单|开通|报名)|(?:需要|要不要|是否要?)我[^,，。?？]{0,4}(?:给|帮|为|替)(?:您|你)|欢迎(?:您|你)?(?:来|试|再|随时|前来|光临|体验|加入|选购)|(?:^|[,，。!！])您(?:已经?|只?需要?(?!我)|将|目前)(?![^,，。]*[我吗?？])|我们(?:提供|支持|承诺|推出|店|酒店|公司|学校|平台)(?!吗|[^,，。]*[吗?？])|以下是[^,，。]{0,6}(?:建议|推荐|步骤|方案)|给您(?:带来|造成)"
    r"|(?:您|你)的[^,，。?？的]{1,8}(?:已经?|将|会在?|正在|预计|目前)(?!是什么)[^?？吗]{1,}$|(?:与|和|跟|向)您(?:取得)?(?:联系|确认|核[实对])|请(?:您)?(?:提供|告知|告诉我|输入|填写|出示|报|确认)(?:一?下)?(?:您|你)的|请您(?:再|先|重新|耐心)?(?:稍[等候]|放心|留意|保持|重启|拔|插|打开|点击|扫|登录|携带|准备|按|到(?!时)|前往|凭|来|于)|请您[^,，。]{0,12}(?:准时|按时|上课|到店)|(?:单|号)[^,，。]{0,16}我?(?:查|找)到了|[您你](?:稍[等候]|放心|别(?:着)?急|先别)|请问您(?:家|需要|想|要|哪[天位]|几位|怎么称呼|住|打算|预算)|(?:请问|您)[^,，。]{0,2}还有(?:什么|其他|别的)[^,，。]{0,2}(?:问题|疑问|需要)|已经?(?:帮|给|为|替)[您你]|我们(?:暂?不(?:支持|提供|接受)|这边)|(?:您|你)(?:将|会)(?:收到|接到)|我们(?:的)?(?:客服|师傅|工作人员|技术人员|系统|门店|公司|政策|活动|会尽快|将尽快)|(?:建议[您你]|推荐您)|您可以(?:先|试试|选择|考虑|尝试|乘|坐)|这边(?:查到|显示|看到|已经?|给您|帮您|为您)|您的[^,，。?？]{0,6}(?:单号?|票号|手机号?|卡号|会员号|身份证|姓名|地址|账号|预[订定]号)[^,，。]{0,4}(?:是|多少|发|给|报)"
)
"""What is done for whom, and whose things they are: said by a service to the one whom it serves."""
_SEGMENT: Final = lazy_pattern(
    r"\*{1,2}([^*\n]{2,200})\*{1,2}|[(（]([^()（）\n]{2,200})[)）]|^_([^_\n]{2,200})_$", re.MULTILINE
)
_YOU_ACT: Final = lazy_pattern(
    r"^you (?!can|could|should|must|may|might|will|would|need|are|were|have|know|don't|do|mean|want|see|never|all|too|and|or|in|on)(?:\w+ly )?[a-z]+\b.{2,}|^(?:你|您)(?![^,，。]{0,4}[可能要应该需想会是有说觉知的])[^?？吗]{1,}(?:了|着|起|向|开|下|过)"
)
_THEY_ACT: Final = lazy_pattern(
    r"^(?:he|she|they) (?:\w+ly )?[a-z]+s?\b.*\b(?:me|my)\b|^[他她它](?!们)[^,，。]*(?:我)", re.IGNORECASE
)
_ADDRESSES: Final = (
    "please you your yours you're i i'm i've i'll i'd we us me my it this that these there here is are was were am do does did has have had can could will would shall should may might must "
    "what who whom why when where how which if and or but so because than then to of for in on at with from as thanks thank sorry hello hi hey yes no not let dear too either".split()
)
"""What follows a name that is called, or is spoken of: no deed is told."""
_SAYS_HAN: Final = r"(?![你您我,，:：的和跟与真好很太可不也都就是会想要能在])[^你您,，。!！?？\n]{0,8}?(?:[了着过起下上出开回进向把]|地[^,，。]{1,3}|说道?|[问答笑叹][^,，。]?|[摇点低抬转][^,，。]{1,2}头?)(?![^,，。!！\n]*[吗?？])"
_YES_NO: Final = lazy_pattern(
    r"^(?:yes|no|sure|of course|certainly|absolutely|unfortunately)[,.!:;—-]+\s*(?:\w|$)(?!\s*(?:thanks|please))|^(?:有的|可以的|是的|能的|没有的|不行的|当然(?:可以|有|能))[,，。!]"
)
_FIRST: Final = lazy_pattern(r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine)\b|我(?!们)")
_SECOND_OR_WE: Final = lazy_pattern(r"\b(?:you|your|you'll|you're|we|our|we're|we'll)\b|[您你]|我们")
_CONSTRAINS: Final = lazy_pattern(
    r"\b(?:should|must|needs?|has to|have to|preferably|i want|please)\b|要|得|最好|希望|应|请|不能|需"
)
_STATES: Final = lazy_pattern(r"\b(?:is|are|was|were|has|have|will|can|does|it|they|you|we)\b|[是在有为会能]")
_COMPLAINS: Final = lazy_pattern(
    r"\b(?:not|no|never|nothing|broken|bad|wrong|worst|terrible|poor|faulty|can't|cannot|\w+n't|my)\b|没|不|坏|差|错|烂|我的"
)
_YOURS: Final = lazy_pattern(rf"\byour ((?:\w+ )?\w+)|(?:您的?|你的)([{_HAN}\w]{{2,8}})")
_SUBJECT: Final = lazy_pattern(
    r"(?:^|[,.;!] ?|\b(?:and|but|so|because|that|since) )(?:i|i'm|i've|i'd|i'll|my) |(?:^|[,，。;；!！])我(?!们)"
)
_SECOND: Final = lazy_pattern(r"\b(?:you|your|yours|you'll|you're|you've|you'd)\b|[您你]")
_SERVING: Final = 0.15
"""Share of replies in the voice of a service."""
_SERVANT: Final = lazy_pattern(
    r"(?i:\byou are|\byou're) (?:an?|the) [\w -]{0,40}(?:assistant|support|service|help ?desk|advisor|chatbot|(?:airline|service|support|booking|customer|call|sales) agent)\b|你是[^,，。]{0,12}(?:客服|助手|助理|顾问|助教|支持)"
)
_SECRETS: Final = 3
"""Content terms of the other's instructions by which a sentence is the other's own."""
_OWN_SHARE: Final = 0.4
"""Their share of the sentence."""
_COMMON_THINGS: Final = "name address number phone email help time day site websit app servic team polici compani store shop messag repli answer question patienc kind understand cooperat assist date year code".split()


@dataclass(frozen=True, slots=True)
class OtherSide:
    """What is known of the side that the user talks to."""

    instructions: str
    """What that side was told."""
    persona: str
    """Who the user is."""
    serves: bool
    """Whether that side is a service: what only services say then counts."""
    belongings: frozenset[str]
    """Content terms of what is the user's own: `order`, `membership`."""
    secrets: frozenset[str]
    """Content terms of the instructions that say nothing of the user."""


@dataclass(frozen=True, slots=True)
class _Names:
    """What shows by the other's name, in either language."""

    label: re.Pattern[str]
    """The name alone."""
    claim: re.Pattern[str]
    """Gives name or trade as the speaker's own, or says to speak in the other's place."""
    deed: re.Pattern[str]
    """Tells what the other does or says."""
    narrated: re.Pattern[str]
    """The same between asterisks or brackets, where the name alone suffices."""


@lru_cache(maxsize=256)
def _names_in(instructions: str, persona: str) -> _Names:
    """Read the other's name and trade off its instructions; the user's own name is none of the other's."""
    text = instructions[:2000]
    mine = [m[1] or m[2] for m in _OWN_NAME.finditer(persona)]
    latin = _parts(" ".join(m[1] or m[2] for m in _NAMED.finditer(text)))
    latin -= {*_parts(" ".join(mine)), *_TITLES, *_ADDRESSES}
    trades = {m[1].lower() for m in _TRADE.finditer(text)} - set(re.findall("[a-z-]+", persona.lower()))
    runs = [(m[1] or m[2]).rsplit("的", 1)[-1] for m in _NAMED_HAN.finditer(text)]
    tails = {run[at:] for run in runs for at in range(max(0, len(run) - 8), len(run) - 1)}
    han = _any_of(t for t in tails if not any(t in name for name in mine))
    of_trade = _any_of(run[i : i + 3] for run in runs for i in range(len(run) - 2))
    title, part, trade = _any_of(_TITLES), _any_of(latin), _any_of(trades)
    name = rf"(?=[A-Z])(?i:(?:{title}\.? )*{part}(?: {part})*(?:['’]s)?)(?![\w-])"
    verb = rf"(?!(?:{_any_of(_ADDRESSES)})\b)[a-z]+"
    claim = (
        rf"(?:(?i:\b(?:i am|i['’]m|my name is|this is|call me|i,|(?:speaking|replying|responding|acting|writing|answering) as)|(?:^|[(\[*])as) |(?i:\bme, )(?=[A-Z][\w'’-]* [A-Z]))(?:[A-Z][\w'’-]* )?{name}(?!\s*[?？])"
        rf"|\b(?i:(?:i am|i['’]m|i have been|i['’]ve been) (?:just |only )?(?:the|an?) (?:[\w-]+ ){{0,3}}?{trade}(?=[\s,.!;]|$)|as your (?:[\w-]+ )?{trade},? i\b)"
        rf"|我(?:就)?(?:是|叫)[{_HAN}]{{0,6}}{han}(?![{_HAN}]*[的吗?？])|我{han}(?=[{_HAN}])|(?:作为|以|扮演){han}(?:的(?:身份|口吻|语气|角度))?[,，]?(?:我|回|说|发)"
        rf"|(?:作为|身为|我就?是)[{_HAN}]{{0,7}}?{of_trade}[{_HAN}]{{0,4}}(?=[,，。!！我]|$)"
    )
    deed = (
        rf"^\W*{name} {verb}(?![\w'’])|(?:[\"”'’]\s+|[,;:—]\s+(?:and |then )?|\b(?:and|then|as|while) ){name} {verb}(?<=[sd])(?![\w'’])"
        rf"|[\"”'’,]\s*(?:says|said|asks|asked|replies|replied|answers|answered) {name}"
        rf"|^\W*{han}{_SAYS_HAN}|{han}[^你您,，。!！?？]{{0,4}}[说问答]道?[:：,，。]"
    )
    label = rf"(?i:(?:{title}\.? ?)*{part}(?: {part})*)|{han}"
    narrated = rf"{deed}|^{han}(?!.*[你您?？])"
    return _Names(*map(re.compile, (label, claim, deed, narrated)))


def _parts(name: str) -> set[str]:
    """Return the words of a name in lower case."""
    return {re.sub("['’]s$", "", part) for part in re.findall(r"[^\W\d_][\w'’-]+", name.lower())}


def _any_of(texts: Iterable[str]) -> str:
    """Return a pattern of any of the texts, the longest first; of none, one that matches nothing."""
    return (
        f"(?:{'|'.join(map(re.escape, sorted(texts, key=len, reverse=True)))})"
        if (texts := set(texts))
        else "(?!)"
    )


def speaks_as_other(text: str, other: OtherSide) -> tuple[str, str] | None:
    """Return the words in which a user's message speaks as the other side, and how; None where it does not.

    `label`: a line is labelled with the other's name. `deed`: it tells what the other does. `machine`: it says
    that it is the assistant. `offer`: it offers a service. `name`: it gives the other's name as its own.
    `knows`: it says of itself what only the other was told. `serves`: it acts for the one whom the other
    serves. `answer`: it answers its own question.
    """
    names = _names_in(other.instructions, other.persona)
    for line in _LABEL.finditer(text):
        label = line[1].strip()
        if names.label.fullmatch(label) or label.lower() in _ROLES:
            return text[line.start() :].strip().split("\n")[0], "label"
    for segment in filter(None, (g for m in _SEGMENT.findall(text) for g in m)):
        plain = segment.strip(" \"'“”")
        if names.narrated.search(plain) or _YOU_ACT.search(plain.lower()) or _THEY_ACT.search(plain):
            return segment, "deed"
    before = ""
    for sentence in sentences(text):
        plain = normalise(sentence)
        if how := next(_ways(sentence, plain, before, names, other), None):
            return sentence, how
        before = plain
    return None


def _ways(sentence: str, plain: str, before: str, names: _Names, other: OtherSide) -> Iterator[str]:
    """Yield how a sentence speaks as the other side."""
    if _MACHINE.search(plain):
        yield "machine"
    if _OFFERS.search(plain):
        yield "offer"
    if names.claim.search(sentence):
        yield "name"
    if names.deed.search(sentence):
        yield "deed"
    asks = plain.endswith(("?", "？"))
    terms = _terms(sentence)
    of_itself = other.persona and not asks and _SUBJECT.search(plain) and not _SECOND.search(plain)
    if of_itself and len(terms & other.secrets) >= max(_SECRETS, _OWN_SHARE * len(terms)):
        yield "knows"
    if not other.serves:
        return
    if _SERVES.search(plain):
        yield "serves"
    # A customer who complains may call what was sold `yours`; so a complaint is left out.
    things = () if asks or _COMPLAINS.search(plain) else _YOURS.findall(plain)
    if any(_terms(a or b) & other.belongings for a, b in things):
        yield "serves"
    if before.endswith(("?", "？")) and not asks and _answers(before, plain):
        yield "answer"


def _answers(question: str, plain: str) -> bool:
    """Whether a sentence answers the question before it in the same message."""
    clause = re.split("[,，;；]", plain)[0]
    if _CONSTRAINS.search(clause):
        return False
    if yes_no := _YES_NO.search(plain):
        named = _SECOND_OR_WE.search(plain[yes_no.end() - 1 :])
        return bool(named) or len(_terms(question) & _terms(plain)) >= 2
    shared = len(_terms(question) & _terms(clause))
    states = _STATES.search(clause) and not _FIRST.search(clause)
    return bool(states) and shared >= max(2, 0.6 * len(_terms(question)))


def _terms(text: str) -> frozenset[str]:
    return content_terms(pieces(text))


def serves(replies: Sequence[str], instructions: str) -> bool:
    """Whether the other side is a service: it was told so, or some of its replies offer, or act for the user."""
    if _SERVANT.search(instructions):
        return True
    plain = [normalise(r) for r in replies]
    hits = sum(bool(_OFFERS.search(p) or _SERVES.search(p)) for p in plain)
    return hits >= max(1, _SERVING * len(plain))


def belongings_of(goal: str, facts: Mapping[str, str], spoken: Sequence[str]) -> frozenset[str]:
    """Return the content terms of what is the user's own, by goal, facts, and `my ...`."""
    things = [*facts, *facts.values()]
    things += re.findall(r"\b(?:my|the|an?) ((?:\w+ )?\w+)", goal.lower())
    things += (thing for text in spoken for thing in re.findall(r"\bmy (\w+)", text.lower()))
    return frozenset().union(*map(_terms, things)) - set(_COMMON_THINGS)
