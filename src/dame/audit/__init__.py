"""Privacy that anyone can check: exact losses, certified lower bounds from the outside, and what attackers could do.

checks = list(dame.audit.audit(["adaptive"], [1.0]))    # every question of every plan: exact loss against its claim
finding = dame.audit.listen(answer, question)           # knows only answer(question, records)
shift = dame.audit.largest_shift(plan)                  # what 1 % of malicious users can do to the estimate
"""

from dame.audit.black_box import Finding, listen
from dame.audit.cases import ALPHAS, Case, all_cases, reachable
from dame.audit.exact import Check, check_question, exact_epsilon
from dame.audit.poisoning import largest_shift
from dame.audit.runs import audit, sampled

__all__ = [
    "ALPHAS",
    "Case",
    "Check",
    "Finding",
    "all_cases",
    "audit",
    "check_question",
    "exact_epsilon",
    "largest_shift",
    "listen",
    "reachable",
    "sampled",
]
