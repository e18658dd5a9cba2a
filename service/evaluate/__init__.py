"""How far the judge agrees with people, how models compare, and what a change would flip (spec 000, 평가 러너)."""
