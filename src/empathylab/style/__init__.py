"""Analyses of writing style on frames, without a lab or a model."""

from types import FunctionType

from empathylab.frames import accepting_pandas
from empathylab.style.authorship.giveaways import Giveaway
from empathylab.style.authorship.predictability import (
    Classification,
    Predictability,
    predictability,
)
from empathylab.style.differences import (
    FeatureDifference,
    FeatureStanding,
    feature_columns,
    feature_differences,
    feature_profile,
)
from empathylab.style.distinctive import (
    DistinctiveTerm,
    DistinctiveTerms,
    distinctive_terms,
    log_odds,
)
from empathylab.style.measures.catalogue import FEATURES, Feature
from empathylab.style.measures.diversity import Diversity, diversity
from empathylab.style.measures.lexicon_files import (
    read_dic,
    read_lexicon,
    read_lexicons,
    read_word_list,
)
from empathylab.style.measures.lexicons import (
    Entry,
    Lexicon,
    builtin_lexicons,
    word_list,
    write_builtin_lists,
)
from empathylab.style.measures.sentiment import sentiment_missing, sentiment_scores
from empathylab.style.measures.table import features
from empathylab.style.openings import Recurrences, Recurring, recurrences
from empathylab.style.profiles import Figure, Profile, profile_table, profiles
from empathylab.style.rating_relations import RatingRelation, rating_relations
from empathylab.style.repetition import Repeated, Repetition, repetition
from empathylab.style.self_similarity import SelfSimilarity, self_similarity
from empathylab.style.tactics.accuracy import TacticAccuracy, built_in_accuracy
from empathylab.style.tactics.correction import CorrectedUse, corrected_uses, tactic_labels
from empathylab.style.tactics.rules import Tactic, TacticRules, tactic_rules
from empathylab.style.tactics.tagging import (
    TacticUse,
    Tagger,
    Template,
    Templates,
    by_rules,
    tactic_places,
    tactic_table,
    tactic_templates,
    tactic_transitions,
    tactic_uses,
    tag,
)
from empathylab.style.text.emoji import emoji_counts, emoji_lists
from empathylab.style.text.marks import MARKS
from empathylab.style.text.sentences import sentence_lists, sentences
from empathylab.style.text.tokens import text_series, without_surrogates, word_lists, words

__all__ = [
    "FEATURES",
    "MARKS",
    "Classification",
    "CorrectedUse",
    "DistinctiveTerm",
    "DistinctiveTerms",
    "Diversity",
    "Entry",
    "Feature",
    "FeatureDifference",
    "FeatureStanding",
    "Figure",
    "Giveaway",
    "Lexicon",
    "Predictability",
    "Profile",
    "RatingRelation",
    "Recurrences",
    "Recurring",
    "Repeated",
    "Repetition",
    "SelfSimilarity",
    "Tactic",
    "TacticAccuracy",
    "TacticRules",
    "TacticUse",
    "Tagger",
    "Template",
    "Templates",
    "built_in_accuracy",
    "builtin_lexicons",
    "by_rules",
    "corrected_uses",
    "distinctive_terms",
    "diversity",
    "emoji_counts",
    "emoji_lists",
    "feature_columns",
    "feature_differences",
    "feature_profile",
    "features",
    "log_odds",
    "predictability",
    "profile_table",
    "profiles",
    "rating_relations",
    "read_dic",
    "read_lexicon",
    "read_lexicons",
    "read_word_list",
    "recurrences",
    "repetition",
    "self_similarity",
    "sentence_lists",
    "sentences",
    "sentiment_missing",
    "sentiment_scores",
    "tactic_labels",
    "tactic_places",
    "tactic_rules",
    "tactic_table",
    "tactic_templates",
    "tactic_transitions",
    "tactic_uses",
    "tag",
    "text_series",
    "without_surrogates",
    "word_list",
    "word_lists",
    "words",
    "write_builtin_lists",
]

# Users may give pandas frames; inside the package all frames are Polars'.
for _name in __all__:
    if isinstance(globals()[_name], FunctionType):
        globals()[_name] = accepting_pandas(globals()[_name])
