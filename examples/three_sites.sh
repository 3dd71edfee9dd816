#!/bin/sh
# A whole study across three edge sites, by files alone.
#
#     examples/three_sites.sh [FOLDER] [SEED]
#
# Each site holds the records of its own users. The planner sends out a question; each site answers it with one
# randomised report for each of its users whose round it is; the tallies come back, and lead to the next question, until
# there is an estimate. No record and no user id ever leaves its site.
#
# The sites' tables are made up here. With a SEED the coins are repeatable, for a test; a real study has none.
set -eu

folder=${1:-three-sites}
seed=${2:+--seed $2}
dame=${DAME:-dame}

mkdir -p "$folder"
cd "$folder"

# The records that the sites hold: minutes of screen time a day, some people with a few days, some with hundreds.
${PYTHON:-python3} - <<'PYTHON'
import csv
import random

made_up = random.Random(1)
for site, people in {"north": 900, "south": 700, "east": 1400}.items():
    with open(f"{site}.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["person", "minutes"])
        for number in range(people):
            for _ in range(int(2 + made_up.paretovariate(0.7)) % 400):
                rows.writerow([f"{site}-{number}", round(made_up.gammavariate(3.0, 45.0), 1)])
PYTHON

# 1. The plan, which everybody may read.
$dame plan --users 3000 --alpha 1 --sizes zipf:1.5:400 --bounds 0 600 --identity screen-time-2026 --max-rounds 2 --no-compare \
    --out plan.json > /dev/null

round=1
while :; do
    # 2. The next question, or the estimate when the rounds are over.
    $dame ask plan.json $(ls tally-*.json 2> /dev/null) --out step.json > estimate.txt
    grep -q '"lens"' step.json || break
    mv step.json "question-$round.json"

    # 3. Each site answers for its users, and sends a file of reports.
    for site in north south east; do
        # shellcheck disable=SC2086
        $dame answer "question-$round.json" "$site.csv" --user person --value minutes --plan plan.json \
            --out "reports-$round-$site.parquet" $seed
    done

    # 4. The collector tallies them: here two sites together and one on its own, then both tallies added up.
    $dame tally "question-$round.json" "reports-$round-north.parquet" "reports-$round-south.parquet" --out part-1.json
    $dame tally "question-$round.json" "reports-$round-east.parquet" --out part-2.json
    $dame tally "question-$round.json" --merge part-1.json part-2.json --out "tally-$round.json"
    round=$((round + 1))
done

mv step.json estimate.json
cat estimate.txt
