"""The forms in which people tell what they decided, prefer, always do, or found out, as data for `told`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..schemas.memory import Kind


@dataclass(frozen=True, slots=True)
class Form:
    """A form of telling.

    Attributes:
        kind: what a match becomes, with `tags`.
        pattern: finds where a clause begins; the clause goes on to the end of its sentence or to a question.
        tags: labels for the memory.
        lasting: nothing comes of it where it is said of the task at hand alone ("for now").
        leads: a short phrase before it, such as "For the frontend,", belongs to it.
    """

    kind: Kind
    pattern: re.Pattern[str]
    tags: tuple[str, ...] = ()
    lasting: bool = True
    leads: bool = True


def _form(kind: Kind, expression: str, *tags: str, lasting: bool = True, leads: bool = True) -> Form:
    return Form(kind, re.compile(expression, re.IGNORECASE), tags, lasting, leads)


_BEGIN = (
    r"(?:^|(?<=[,;:—–] )|(?<= and )|(?<= so )|(?<= but )|(?<=\()|(?<= - ))"
    r"(?:(?:ok(?:ay)?|please|pls|also|so|and|but|hey|note|important|reminder|remember|btw|yes|no|actually|again)[,:!]? ){0,3}"
)
_US = r"(?:we|i|the team|our team|my team|they)"
_HAVE = r"(?:['’](?:ve|d)| have| had)?"
_SOFT = r"(?:just |now |finally |already |both |all |really |strongly |generally |usually |much |definitely |typically |personally |also |eventually )*"
_VERB = r"(?!(?:had|been|was|were|seen|heard|thought|got|did|knew|made|done|gone|written|a|an|the|so|in|on|mind|ending|again)\b)(?!\w+ed\b)\w+"
_RISKY = (
    r"(?:commit|push|force[- ]push|deploy|merge|publish|release|rebase|amend|squash|delete|drop|hard-?code|log|mock"
    r"|store|check in|bypass|skip|disable|auto-?format|upgrade|bump)"
)
_EVER = r"(?:\bever\b|\bagain\b|\banywhere\b|in (?:this|the|our|any) (?:repo(?:sitory)?|project|code ?base|workspace)|without\b|unless\b|under any circumstances|directly|\bat all\b)"

_RULES = (
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:(?:you|we|i|one|agents?|everyone) )?(?:must |should |shall |can |may |need to |have to )?(?:always|never) {_VERB}", "convention"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:please )?(?:make sure|be sure|remember|take care)(?: to| you| that you)? (?:always|never)\b", "convention"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:[\w`./-]+ ){{1,8}}?(?:must|should|shall|can|may) (?:always|never|under no circumstances)\b", "convention"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:[\w`./-]+ ){{1,8}}?(?:must(?:n['’]t| not)|(?:is|are) (?:not allowed|forbidden|off[- ]limits|mandatory|required))\b", "convention"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:from now on|going forward|from here on|in (?:the )?future|as a rule|by convention|under no circumstances|at all times)\b", "convention", leads=False),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:whenever|every time|each time|any time|anytime) (?:you|we|i|somebody|someone|a|an|the)\b[^,]{{3,80}}, (?:please )?(?!i\b|it\b|there\b|the\b|we get\b|my\b)\w+", "convention", leads=False),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:before|after) (?:each|every|any|committing|pushing|merging|deploying|releasing)\b[^,]{{0,60}}, (?:please |always )*(?!i\b|it\b|there\b|the\b|my\b|that\b)\w+", "convention", leads=False),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:you |we |i )?(?:do not|don['’]t|should not|shouldn['’]t|must not|mustn['’]t|can['’]t|cannot) ever\b", "convention"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:you |we )?(?:do not|don['’]t|should not|shouldn['’]t|must not|mustn['’]t) {_RISKY}\b", "convention"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:you |we )?(?:do not|don['’]t|should not|shouldn['’]t) \w+ (?=[^.?!]*{_EVER})", "convention"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}no (?:[\w-]+ ){{1,4}}(?:in (?:this|the|our) (?:repo(?:sitory)?|project|code ?base)|without|on fridays?|to main|to master)\b", "convention"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:we |our team )(?:only|do not|don['’]t|no longer) (?:use|commit|push|deploy|merge|allow|support|write|accept|ship|mock)\b", "convention"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:we )?use (?:[\w`./@+#-]+ ){{1,5}}?(?:instead of|rather than|,? ?(?:and )?not|over) ", "convention"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:we )?use (?:[\w`./@+#-]+){{1,4}}, (?:and )?(?:not|never) \w", "convention"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:our|the|my) (?:[\w-]+ ){{0,2}}(?:convention|rule|policy|standard|house style) (?:here )?(?:is|says?)\b", "convention"),
)  # fmt: skip
_PREFERENCES = (
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:i|we)(?:['’]d| would)? {_SOFT}prefer\b(?! (?:to know|it\b))"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:i|we)(?:['’]d| would) {_SOFT}rather (?!know\b|you (?:fix|do|tell)\b)\w+"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:i|we) {_SOFT}(?:hate|dislike|can['’]t stand|don['’]t (?:like|want|need)|do not (?:like|want)|am not a fan of|favou?r)\b(?! to know)(?= (?!to be\b|how\b|what\b|why\b))"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:i|we) {_SOFT}(?:like|love|want) (?=(?:my|our|your|all|every|short|small|concise|when|it when|things|to keep|to have|to see)\b)(?!to see (?:if|whether|how|what|why)\b)(?=[^.?!]*\b(?:always|never|when|over|instead|rather|short|concise|explicit|small|in [A-Z]\w+|without)\b)"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}prefer [\w`]+"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:my|our) (?:strong |personal )?preference (?:is|would be)\b"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:my|our) (?:preferred|favou?rite|go-to) (?:[\w-]+ ){{1,4}}(?:is|are)\b"),
)  # fmt: skip
_DECISIONS = (
    _form(Kind.DECISION, rf"{_BEGIN}{_US}{_HAVE} {_SOFT}(?:decided|agreed|chosen|chose|settled|opted|concluded|picked|standardi[sz]ed|committed to using)\b(?= (?:on|to|that|against|for|not|in favou?r|[\w`]+))", lasting=False),
    _form(Kind.DECISION, rf"{_BEGIN}(?:the|our|my|final) decision(?: is| was|:)(?= (?!pending|open|still|whether|not made|yours|up to)\w)", lasting=False),
    _form(Kind.DECISION, rf"{_BEGIN}(?:decision|decided|agreed): ", lasting=False),
    _form(Kind.DECISION, rf"{_BEGIN}it (?:was|has been) (?:decided|agreed) (?:that|to)\b", lasting=False),
    _form(Kind.DECISION, rf"{_BEGIN}(?:(?:we|i)(?:['’]re| are|['’]m| am|['’]ll| will) )?(?:going|go|sticking|stick) with (?!the flow|you|me|it\b)(?=[\w`])(?<!should go with )", lasting=False),
    _form(Kind.DECISION, rf"{_BEGIN}let['’]?s (?:go with|stick with|stick to|standardi[sz]e on|settle on|keep using)\b", lasting=False),
    _form(Kind.DECISION, rf"{_BEGIN}we(?:['’]ll| will|['’]re going to| are going to) (?:use|keep|adopt|stay on|stay with)\b(?=[^.?!]*\b(?:instead of|because|since|rather than|not|for all|everywhere|from now on)\b)", lasting=False),
    _form(Kind.DECISION, rf"{_BEGIN}(?:we|i|the team){_HAVE} {_SOFT}(?:switched|moved|migrated|standardi[sz]ed|consolidated) (?:[\w`./ -]{{1,60}} )?(?:from|to|off|on|away from|over to)\b", lasting=False),
    _form(Kind.DECISION, rf"{_BEGIN}(?:we|i|the team){_HAVE} {_SOFT}(?:replaced|dropped|deprecated|adopted|retired|abandoned|ditched)\b", lasting=False),
)  # fmt: skip
_PROCEDURES = (
    _form(Kind.PROCEDURE, rf"{_BEGIN}to (?!be\b|do\b|that\b|fix\b|solve\b|sum\b|summari[sz]e\b|clarify\b|answer\b|recap\b|help\b|me\b)\w+ (?!(?:this|that|it)\b)[^,?]{{3,80}}, (?:you (?:can|must|should|need to|have to) |we |just |first |please )*(?:run|use|call|execute|type|set|invoke|do|start|open|edit|go to|apply)\b", leads=False),
    _form(Kind.PROCEDURE, rf"{_BEGIN}(?:the (?:right |correct |only )?way to|how we) (?!fix (?:this|that|it)\b)[^.?]{{3,80}} is\b", leads=False),
    _form(Kind.PROCEDURE, rf"{_BEGIN}we (?:deploy|release|build|test|run|publish|start|generate|regenerate|lint|format|migrate) (?!it\b|this\b|that\b|on\b|into\b)[^.?]{{2,80}}? (?:with|using|via|by running|by calling|through) "),
)  # fmt: skip
_REMARKS = (
    _form(Kind.FACT, rf"{_BEGIN}(?:please )?(?:remember|note|keep in mind|bear in mind|for the record|for future reference|fyi)(?: that|:|,)? (?=(?:the|our|we|i|my|all|[A-Z`])[\w`' ])", leads=False),
)  # fmt: skip
_FIXES = (
    _form(Kind.FACT, rf"{_BEGIN}(?:[\w`'’./()-]{{1,60}}+ ){{1,12}}?(?:failed|fails|broke|breaks|crashed|crashes|hung|hangs|timed out|was failing|were failing|was broken|kept failing) (?:[\w`'’./()-]{{1,60}}+ ){{0,8}}?(?:because|since|due to|as)\b", "fix", lasting=False),
    _form(Kind.FACT, rf"{_BEGIN}(?:the )?(?:[\w`-]+ ){{0,3}}(?:problem|issue|bug|root cause|cause|culprit|reason)(?: [\w`'’-]+){{0,4}} (?:was|is|turned out to be)\b(?! (?:that )?(?:fixed|gone|solved|open|still|resolved|unclear|unknown|not))", "fix", lasting=False, leads=False),
    _form(Kind.FACT, rf"{_BEGIN}(?:[\w`'’./()-]{{1,60}}+ ){{1,12}}?(?:was|were|is|are) caused by\b", "fix", lasting=False, leads=False),
    _form(Kind.FACT, rf"{_BEGIN}(?:the (?:fix|solution|workaround|remedy) (?:was|is|turned out)|(?:[\w`'’./()-]{{1,60}}+ ){{0,10}}?(?:fixed|solved|resolved|worked around)(?: (?:it|this|that|them|the [\w -]{{1,40}}))? (?:by|with|via)\b|(?:[\w`'’./-]+ ){{1,10}}?(?:fixed|fixes|solved|solves|resolved|resolves) (?:it|this|that|the (?:problem|issue|bug|error|failure|crash|test|tests|build))\b)", "fix", lasting=False, leads=False),
)  # fmt: skip
_REPORTED_WISHES = (
    _form(Kind.PREFERENCE, rf"{_BEGIN}the user {_SOFT}(?:prefers|likes|dislikes|hates|wants|does(?: not|n['’]t) (?:like|want)|never wants|always wants)\b(?! (?:to know|me to (?:fix|add|implement|write|create|check|look)|this|help|it)\b)"),
    _form(Kind.PREFERENCE, rf"{_BEGIN}(?:user|your|their) (?:preference|preferences)(?::| is)"),
)  # fmt: skip

USER_FORMS: tuple[Form, ...] = (*_DECISIONS, *_RULES, *_PREFERENCES, *_PROCEDURES, *_FIXES, *_REMARKS)
"""In this order: the first form that fits gives the kind."""
AGENT_FORMS: tuple[Form, ...] = (*_DECISIONS[:4], *_DECISIONS[7:], *_FIXES, *_REPORTED_WISHES)
"""An agent's "always" is advice of the moment, and its wishes are nobody's."""

QUESTION_TAIL = re.compile(
    r"(?:,|;| -| –| —)?\s*(?:and |but |so |also |or )?\b(?:can|could|would|will) you\b"
    r"|(?:,|;| -| –| —)\s*(?:and |but |so |also |or )?(?:how|what|where|which|why|when|should|is|are|do|does|did|can|could"
    r"|would|right|ok|correct)\b(?=[^.!]*\?)",
    re.IGNORECASE,
)
"""Where a statement ends and a question begins."""
ASIDE = re.compile(
    r"(?:,|;)\s*(?:and|but|so|though|however)\s+(?:now )?(?:i['’]?m|i am|i want|i need|i['’]?d like|i would like|i['’]?ve got|i was|please|let['’]?s|can we)\b"
    r"|\s*->->",
    re.IGNORECASE,
)
"""Where what was told ends and the task of the moment begins."""
LEADING = re.compile(
    r"(?:^|(?<=[;:] )|(?<=and ))(?:(?:for|in|on|at|within|when|unless|as for|regarding) [^,;:?]{2,55}, )$",
    re.IGNORECASE,
)
"""A phrase that says what a statement is about."""
DOUBT_BEFORE = re.compile(
    r"\b(?:if|whether|unless we|suppose|supposing|assuming|imagine|pretend|say we|what if|should|could|would|might|may|maybe"
    r"|perhaps|probably|possibly|wonder(?:ing)?|consider(?:ing)?|thinking|think|not sure|unsure|guess|hypothetically|in theory"
    r"|haven['’]t|hasn['’]t|have not|has not|not yet|why|how come|did|do you|have we|are we|example|e\.g|unlike|used to|once)\b",
    re.IGNORECASE,
)
"""Words before a statement that make it a supposition, a question or a story."""
DOUBT_ANYWHERE = re.compile(
    r"\b(?:maybe|perhaps|not sure (?:if|whether)|haven['’]t decided|not decided|undecided|hypothetically|just an idea"
    r"|for example|\bwhat do you think|i guess|probably|might (?:want|be better)|or should)\b",
    re.IGNORECASE,
)
REPORTED = re.compile(
    r"\b(?:says?|said|tells?|told|claims?|claimed|according to|states?|stated|reads|mentions?|mentioned|suggests?|suggested"
    r"|recommends?|recommended|complains?|complained|insists?|advises?|warns?|argues?|heard|read that|quote|quoting|apparently"
    r"|supposedly|comment|prints?|printed|outputs?|returns?|error|asks?|asked|seem(?:s|ed)?|chatgpt|stack ?overflow)\b",
    re.IGNORECASE,
)
"""Words before a statement that make it somebody else's."""
TEMPORARY = re.compile(
    r"\b(?:for now|for the moment|right now|just now|at the moment|today|tonight|tomorrow|this (?:time|once|week|afternoon)|yet"
    r"|in this (?:pr|commit|change|branch|file|function|method|class|case|session|task|conversation|step|example|patch|diff)"
    r"|for this (?:pr|commit|change|branch|file|function|one|task|step|case|fix|patch|feature|test)|temporarily"
    r"|until (?:i|we|you|then|tomorrow|monday|it|further)|while (?:i|we|you)(?:['’]m|['’]re| am| are))\b",
    re.IGNORECASE,
)
"""Words that bind a wish to the task at hand."""
EMPTY_OBJECT = re.compile(
    r"^[\s,:]*(?:(?:to|on|that|for|with|do|use|using|go with|doing|be|run|try)\s+)*(?:(?:it|this one|that one|these ones|this|that|these|those|them|one|so|the (?:first|second|last"
    r"|latter|former)(?: one| option)?|option [a-z\d]|both|neither)\b)?(?:\s+(?:again|too|then|instead|now|please|like that|that way|so))*[\s.,!?)]*$",
    re.IGNORECASE,
)
"""What follows where nothing is named: "I prefer this one."."""
