"""What is known of weights that were distorted, for the statement."""

ATTACKS = ("Any weight: it may be recovered from what is published. There is no model of an attacker and no bound.",)
