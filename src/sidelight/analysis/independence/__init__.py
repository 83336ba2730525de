"""The independence number, or bounds on it where it is out of reach."""

from sidelight.analysis.independence.number import IndependenceNumber, independence_number

__all__ = ["IndependenceNumber", "independence_number"]
