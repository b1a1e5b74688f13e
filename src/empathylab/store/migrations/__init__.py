"""The steps from an empty database to today's schema, numbered `0001`, `0002` …"""

from __future__ import annotations

# The newest step; a test compares it with the files in versions/.
HEAD = "0020"
# Indexes of the step after this one, which PostgreSQL builds beforehand, while others read and
# write.
ONLINE_SINCE = "0018"
ONLINE_INDEXES = {
    "ix_ratings_arm_id_rater_id": "ratings (arm_id, rater_id)",
    "ix_responses_respondent_id_situation_id": "responses (respondent_id, situation_id, outcome)",
}
