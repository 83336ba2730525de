"""Clients of the decision service. Needs httpx: `pip install 'sidelight[client]'`.

>>> from sidelight.client import Client
>>> with Client("http://127.0.0.1:8383", token="sl_…") as service:                       # doctest: +SKIP
...     prices = service.create("prices", "cycle:12", rewards=(0, 25))
...     decision = prices.decide()
...     prices.observe(decision, {arm: reward_of(arm) for arm in decision.reveals})
"""

from sidelight.client.calls import Decision as Decision
from sidelight.client.calls import Observed as Observed
from sidelight.client.clients import AsyncClient as AsyncClient
from sidelight.client.clients import AsyncRemotePolicy as AsyncRemotePolicy
from sidelight.client.clients import Client as Client
from sidelight.client.clients import RemotePolicy as RemotePolicy
