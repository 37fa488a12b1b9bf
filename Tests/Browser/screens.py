"""The screens that pages are tried on."""

DESK = {"width": 1280, "height": 860}
PHONE = {"width": 360, "height": 780}
