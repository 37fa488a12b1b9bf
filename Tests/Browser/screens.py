"""The screens that pages are tried on, and how one gets about on them."""

DESK = {"width": 1280, "height": 860}
PHONE = {"width": 360, "height": 780}


def more(page, message):
    message.hover()
    message.get_by_role("button", name="More about this message").click()
    return page.locator("#message-sheet")
