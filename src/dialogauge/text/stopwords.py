"""Words that say nothing of the topic, and words that tell Latin-script languages apart."""

# ruff: noqa: SIM905 - a thousand quotes would hide the words
from __future__ import annotations

__all__ = ["ENGLISH_STOP", "FOREIGN_STOP", "HAN_STOP"]

ENGLISH_STOP = frozenset(
    """
    a about above actually after again all already also always am an and another any anything are as
    at be because been before being below best better between both but by can cannot can't come
    could couldn't did didn't do does doesn't doing don't done down each either else even ever every
    everything few fine first for from further get gets getting give given go goes going good got
    great had has hasn't have haven't having he hello help her here hers hey hi him his how however
    i i'd i'll i'm i've if in into is isn't it it's its itself just kind know let let's like little
    look looking lot made make makes making many may maybe me might mine more most much must my
    myself need needs never new nice no nor not nothing now of off oh ok okay on once one only onto
    or other others our ours out over own perhaps please possible quite rather really right said
    same say see she should since so some someone something still such sure take tell than thank
    thanks that that's the their theirs them then there there's these they they're thing things
    think this those though through time to too try trying under until up upon us use used using
    very want wanted was wasn't way we we'd we'll we're we've well were what what's when where
    whether which while who whom why will with within without won't would wouldn't yes yet you you'd
    you'll you're you've your yours yourself able ask asked around back bit else etc able welcome
    sorry yeah yep hmm per via
    """.split()
)

HAN_STOP = frozenset(
    "的了是我你您他她它们这那个些么吗呢吧啊呀哦嗯嘛和与或及在有没不也都还就又很太更最被把给让为以从到对向于"
    "之其而但并且所因如果若则即请要想会能可该应将已曾着过地得来去做说问答谢好什怎哪谁几何样里中上下只再等"
)
"""Characters of function and courtesy; runs of Chinese are cut at them before bigrams are taken."""

_FOREIGN = {
    "es": (
        "el los las una por para con que está estoy quiero puedes puede gracias hola cómo qué muy "
        "pero mi su  del al es lo se tengo tiene son como más también necesito "
    ),
    "de": (
        "der die das und ist nicht ich sie wir ein eine einen dem den mit für auf von zu im bitte "
        "danke wie kann  können habe haben auch aber sehr mein meine ihr ihre wird sind oder bei "
    ),
    "fr": (
        "le les des une est et je vous nous pas pour dans avec sur qui que bonjour merci comment "
        "mais très mon  votre du au ce cette sont être avoir suis il elle "
    ),
    "it": (
        "il gli che di per con una sono non grazie ciao come questo questa mio della nel anche ma "
        "ho può vorrei  è più "
    ),
    "pt": (
        "os um uma para com não você obrigado obrigada olá como mais muito meu minha está são por "
        "ao da do eu  posso "
    ),
    "nl": (
        "het een van ik niet dat en voor met zijn ook maar wel hoe kan kunt graag dank uw mijn naar ben heb "
    ),
    "pl": ("się jest nie na do to że jak czy proszę dziękuję mam mój oraz przez dla "),
    "sv": ("och att det som en på är av för inte jag med har ett till kan hur tack min "),
    "tr": ("bir ve bu için ile ben ne nasıl değil çok teşekkürler merhaba var mı "),
    "id": ("yang dan di untuk dengan saya ini itu tidak apa bagaimana terima kasih bisa ada ke dari "),
    "vi": ("là của và có không tôi bạn cho một được xin cảm ơn này "),
}
FOREIGN_STOP = frozenset(word for words in _FOREIGN.values() for word in words.split()) - frozenset(
    """
    is a an as at do to me no so on in was am i it en die son con come mi di al la du pas per ma on
    den hat
    """.split()
)
"""Frequent words of other languages in Latin script that are no English words."""
