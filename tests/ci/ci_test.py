#!/usr/bin/python3
"""What continuous integration runs: action.yml, the pre-commit hooks, and README's examples of them, run here as far as they can be.

usage: ci_test.py LPPOOL_CLI REPOSITORY; exit code 77 where python3-yaml is missing. The hooks run in pre-commit itself where
that is installed, and by its rules as far as they matter here where it is not."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:
    print("skipped: python3-yaml is not installed")
    sys.exit(77)

CLI, ROOT = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
MODELS = ROOT / "testdata/models"


def run(command, folder, environment=None, **more):
    path = {"PATH": f"{CLI.parent}:{os.environ['PATH']}", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    return subprocess.run(command, cwd=folder, env=path | (environment or {}), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100, **more)


def readme_yaml(mark):
    """The YAML example of README that holds `mark`."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)
    return yaml.safe_load(next(block for block in blocks if mark in block))


class InFolder(unittest.TestCase):
    """A fresh folder with models, and shapes.json for them."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "models").mkdir()
        shutil.copy(MODELS / "tower.onnx", self.folder / "models/tower.onnx")
        shutil.copy(MODELS / "old.onnx", self.folder / "models/with blank.onnx")
        self.assertEqual(run([CLI, "infer", "models", "--write-expect", "shapes.json"], self.folder).returncode, 0)

    def put(self, model, name):
        shutil.copy(MODELS / model, self.folder / name)


class Action(InFolder):
    """The steps of action.yml in bash as a runner starts it."""

    def act(self, **given):
        action = yaml.safe_load((ROOT / "action.yml").read_text())
        inputs = {name: str(spec.get("default", "")) for name, spec in action["inputs"].items()}
        given = {name.replace("_", "-"): value for name, value in given.items()}
        self.assertLessEqual(given.keys(), inputs.keys())
        inputs |= {"program": str(CLI)} | given
        for step in action["runs"]["steps"]:
            if "if" in step:
                name = re.fullmatch(r"inputs\.([a-z-]+) == ''", step["if"])[1]
                if inputs[name] != "":
                    continue
            environment = {"GITHUB_ACTION_PATH": str(ROOT)}
            for variable, value in step.get("env", {}).items():
                environment[variable] = inputs[re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value)[1]]
            self.assertNotIn("${{", step["run"], "what an input says would become part of the script")
            self.assertEqual(step["shell"], "bash")
            script = self.folder / "step.sh"
            script.write_text(step["run"])
            done = run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], self.folder, environment)
        return done.returncode, done.stdout

    def test_sound_models(self):
        self.assertEqual(self.act(models="models", expect="shapes.json"), (0, "lppool: all is well\n"))

    def test_models_one_a_line(self):
        self.assertEqual(self.act(models="models/tower.onnx\r\n\n  \nmodels/with blank.onnx\n", expect="shapes.json")[0], 0)
        code, text = self.act(models="models/tower.onnx models/old.onnx")
        self.assertEqual((code, "::error file=models/tower.onnx models/old.onnx" in text), (3, True), text)
        self.assertEqual(self.act(models="")[0], 2)

    def test_names_are_no_options(self):
        self.put("tower.onnx", "--help")
        self.assertEqual(self.act(models="--help", expect="")[0], 0)

    def test_findings_and_shapes_in_one_run(self):
        self.put("broken.onnx", "models/broken model.onnx")
        self.put("half.onnx", "models/tower.onnx")
        code, text = self.act(models="models", expect="shapes.json")
        self.assertEqual(code, 1)
        self.assertIn("::error file=models/broken model.onnx,title=LP003 ", text)
        self.assertIn("::error file=models/tower.onnx,title=shape::tensor 'x': shape 1x1x4, expected Nx3xHxW\n", text)
        self.assertNotIn("all is well", text)

    def test_severity_and_portability(self):
        self.put("ceil18.onnx", "models/ceil.onnx")
        code, text = self.act(models="models/ceil.onnx")
        self.assertEqual((code, "::warning file=models/ceil.onnx,title=LP017" in text, "title=PO" in text), (0, True, False), text)
        self.assertEqual(self.act(models="models/ceil.onnx", fail_on="warning")[0], 1)
        self.assertIn("title=PO", self.act(models="models/ceil.onnx", portability="true")[1])
        self.assertEqual(self.act(models="models", fail_on="never")[0], 2)

    def test_no_expected_shapes_there(self):
        self.assertEqual(self.act(models="models", expect="missing.json")[0], 3)

    def test_readme(self):
        step = readme_yaml("uses: OWNER/lppool")["steps"][-1]
        self.assertEqual(self.act(**step["with"])[0], 0)


class GitLab(InFolder):
    def test_readme(self):
        job = readme_yaml("image: debian")["models"]
        for line in job["script"]:
            done = run(["sh", "-ec", line], self.folder)
            self.assertEqual(done.returncode, 0, done.stdout)
        for report in job["artifacts"]["reports"]["junit"]:
            self.assertIn('failures="0"', (self.folder / report).read_text())


class Hooks(InFolder):
    """The hooks as README sets them up, for files that are staged."""

    def setUp(self):
        super().setUp()
        self.real = shutil.which("pre-commit") and shutil.which("git")
        if self.real:
            self.git(self.folder, "init", "-q")
            self.definition = self.folder / ".definition"
            self.definition.mkdir()
            shutil.copy(ROOT / ".pre-commit-hooks.yaml", self.definition)
            self.git(self.definition, "init", "-q")
            self.git(self.definition, "add", ".")
            self.git(self.definition, "commit", "-q", "-m", "hooks")

    def git(self, folder, *arguments):
        person = ["-c", "user.email=a@example.org", "-c", "user.name=a", "-c", "init.defaultBranch=main"]
        done = run(["git", *person, *arguments], folder)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout.strip()

    def hook(self, wanted, files, **own):
        hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
        hook = hooks[wanted] | own
        self.assertEqual(hook["language"], "system")
        if not self.real:
            matching = [file for file in files if re.search(hook["files"], file)]
            done = run([*hook["entry"].split(), *hook.get("args", []), *matching], self.folder) if matching else None
            return (done.returncode != 0, done.stdout) if done else (False, "(no files to check)Skipped")
        revision = self.git(self.definition, "rev-parse", "HEAD")
        config = {"repos": [{"repo": str(self.definition), "rev": revision, "hooks": [{"id": wanted} | own]}]}
        (self.folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
        self.git(self.folder, "add", ".pre-commit-config.yaml", *files)
        done = run(["pre-commit", "run", "--color", "never", "--files", *files], self.folder, {"PRE_COMMIT_HOME": str(self.folder / ".cache")})
        return done.returncode != 0, done.stdout

    def test_sound_models(self):
        files = ["models/tower.onnx", "models/with blank.onnx"]
        self.assertEqual(self.hook("lppool-check", files)[0], False)
        self.assertEqual(self.hook("lppool-shapes", files)[0], False)

    def test_other_files(self):
        (self.folder / "model.onnx.txt").write_text("")
        for hook in ("lppool-check", "lppool-shapes"):
            failed, text = self.hook(hook, ["model.onnx.txt", "shapes.json"])
            self.assertEqual((failed, "no files to check" in text), (False, True), text)

    def test_findings(self):
        self.put("broken.onnx", "br oken.onnx")
        failed, text = self.hook("lppool-check", ["br oken.onnx", "models/tower.onnx"])
        self.assertEqual((failed, "br oken.onnx: error LP003 node 'pool1'" in text), (True, True), text)

    def test_shapes(self):
        self.put("half.onnx", "models/with blank.onnx")
        files = ["models/with blank.onnx", "models/tower.onnx"]
        failed, text = self.hook("lppool-shapes", files)
        self.assertEqual((failed, "models/with blank.onnx: tensor 'x': shape 1x1x4, expected 1x2x6x6" in text), (True, True), text)
        (self.folder / "shapes.json").rename(self.folder / "golden.json")
        self.assertIn("shapes.json", self.hook("lppool-shapes", files)[1])
        self.assertIn("expected 1x2x6x6", self.hook("lppool-shapes", files, args=["--expect", "golden.json"])[1])

    def test_readme(self):
        for hook in readme_yaml("hooks:")["repos"][0]["hooks"]:
            own = {name: value for name, value in hook.items() if name != "id"}
            self.assertEqual(self.hook(hook["id"], ["models/tower.onnx"], **own)[0], False)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
