"""A real browser for tests of the page: this machine's Chromium, driven over WebDriver."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

MISSING = "no Chromium: apt-get install chromium chromium-driver"
#: Nothing but the page is loaded, nothing is sent home; root needs the sandbox off.
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync --disable-default-apps "
    "--hide-scrollbars --window-size=1100,900"
).split()
#: Seconds until something must have happened; a busy machine takes its time.
PATIENCE = 40

_Value = TypeVar("_Value")


def programs() -> tuple[str, str] | None:
    """Return the paths of the browser and of its driver; None if one is not installed."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


def can_install() -> bool:
    """Return whether `.ci/run` installs them: where it does, a missing one is a failure."""
    return bool(os.environ.get("CI")) and os.geteuid() == 0 and shutil.which("apt-get") is not None


class Browser:
    """A browser with one window."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver

    def visit(self, url: str) -> None:
        self.driver.get(url)

    @property
    def path(self) -> str:
        """What follows the server's address."""
        return "/" + self.driver.current_url.split("/", 3)[3]

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        return self.until(lambda: (self.all(selector) or [None])[0])

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page."""
        return self.driver.execute_script(script, *arguments)

    def text(self, selector: str) -> str:
        """Return the text of an element, also of one that is not shown."""
        return str(self.run("return document.querySelector(arguments[0])?.textContent.trim() ?? ''", selector))

    def press(self, *keys: str) -> None:
        """Press keys where the focus is."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def tab(self) -> str:
        """Press Tab, and describe what then has the focus."""
        self.press(Keys.TAB)
        return str(self.run("const e = document.activeElement; return e.id || e.getAttribute('href') || e.tagName"))

    def until(self, condition: Callable[[], _Value | None]) -> _Value:
        """Wait until something is so, and return it; where another page comes while it is looked at, look again."""
        wait = WebDriverWait(self.driver, PATIENCE, 0.05, ignored_exceptions=[StaleElementReferenceException])
        return wait.until(lambda _: condition())  # type: ignore[arg-type,return-value]

    def complaints(self) -> list[str]:
        """Return what is on the console: errors, and what the page's policy has refused; each once."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def emulate(self, *, width: int = 0, height: int = 800, scheme: str = "light") -> None:
        """Show the page on a screen this wide, in a colour scheme; 0 for the window's own width."""
        if width:
            metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": True}
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        else:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def allow_clipboard(self) -> None:
        permissions = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
        self.driver.execute_cdp_cmd("Browser.grantPermissions", permissions)

    def clipboard(self) -> str:
        """Return what was copied."""
        return str(self.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0], arguments[0])"))


@contextmanager
def browsing(directory: Path, *, has_script: bool = True) -> Iterator[Browser]:
    """Run a browser with a profile of its own, new in this directory."""
    found = programs()
    assert found, MISSING
    options = ChromeOptions()
    options.binary_location = found[0]
    for flag in (*FLAGS, f"--user-data-dir={directory / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    if not has_script:
        settings = {"profile.managed_default_content_settings.javascript": 2}
        options.add_experimental_option("prefs", settings)
    service = Service(found[1], log_output=subprocess.DEVNULL, env={**os.environ, "HOME": str(directory)})
    driver = Chrome(options=options, service=service)
    driver.set_page_load_timeout(PATIENCE)
    driver.set_script_timeout(PATIENCE)
    try:
        yield Browser(driver)
    finally:
        driver.quit()
