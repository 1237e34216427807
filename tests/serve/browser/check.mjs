// Looks at pages in a browser: HTML that is valid, no violations of the rules of accessibility that axe checks, nothing
// wider than the window, nothing to copy that is cut off, no errors in the console; in a wide and a narrow window, light and dark. Saves a picture of each.
//
// node check.mjs TOOLS CHROMIUM BASE PICTURES PATH...
//
// TOOLS has the node_modules of package.json beside this file. The last line of the output is the number of findings.

import { createRequire } from "node:module";
import { join } from "node:path";

const [tools, chromium, base, pictures, ...paths] = process.argv.slice(2);
const require = createRequire(join(tools, "node_modules", "/"));
const puppeteer = require("puppeteer-core");
const axe = require("axe-core");
const { HtmlValidate } = require("html-validate");

const WINDOWS = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
];

const findings = [];

const validator = new HtmlValidate({
  extends: ["html-validate:standard", "html-validate:a11y"],
  rules: {
    // Rules of style. The pages are written without line ends, and close what need not be closed.
    "long-title": "off",
    "no-implicit-close": "off",
  },
});

async function validate(path) {
  const response = await fetch(base + path, { headers: { accept: "text/html" } });
  const report = await validator.validateString(await response.text(), path);
  for (const message of report.results.flatMap((result) => result.messages)) {
    findings.push(`${path}: HTML: ${message.ruleId}: ${message.message} at ${message.line}:${message.column}`);
  }
}

async function look(browser, path, at, window, scheme) {
  const where = `${path} (${window.width} px, ${scheme})`;
  const page = await browser.newPage();
  page.on("console", (message) => {
    // The browser reports the status of a page for an error as an error of the console.
    if (message.type() === "error" && !message.text().includes("status of 404")) {
      findings.push(`${where}: console: ${message.text()}`);
    }
  });
  await page.setViewport(window);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(base + path, { waitUntil: "load" });
  for (const details of await page.$$("details > summary")) await details.click();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  if (wide > window.width) findings.push(`${where}: ${wide} px wide`);
  const cut = await page.$$eval("pre.copy", (boxes) =>
    boxes.filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.textContent),
  );
  for (const text of cut) findings.push(`${where}: cut off: ${text}`);
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run());
  for (const violation of violations) {
    const nodes = violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 200));
    findings.push(`${where}: ${violation.id}: ${violation.help}: ${nodes.join(" | ")}`);
  }
  const name = `${at}-${window.width}-${scheme}.png`;
  // Axe has scrolled, and a part of the page moves along.
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: join(pictures, name), fullPage: true });
  await page.close();
}

const browser = await puppeteer.launch({
  executablePath: chromium,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--disable-background-networking"],
});
try {
  for (const [at, path] of paths.entries()) {
    await validate(path);
    for (const window of WINDOWS) {
      for (const scheme of ["light", "dark"]) await look(browser, path, at, window, scheme);
    }
  }
} finally {
  await browser.close();
}
for (const finding of findings) console.log(finding);
console.log(findings.length);
