// The oracle's workload as promptfoo assertions: `node oracle_promptfoo.mjs FOLDER WORKLOAD.jsonl`.
// FOLDER holds node_modules/promptfoo. A group is a contains-any, banned words are one not-contains-any.
// Prints {assertions: {cases, cpu_s, passed}, evaluate: {cases, cpu_s, passed}} as JSON on the last line.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [folder, file] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${folder}/`));
const promptfoo = await import(pathToFileURL(require.resolve('promptfoo')));
const library = promptfoo.assertions ? promptfoo : promptfoo.default;

const cases = readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
const asserts = ({ evaluation_criteria: criteria }) => [
  ...criteria.must_include.map((group) => ({ type: 'contains-any', value: group })),
  { type: 'not-contains-any', value: criteria.must_not_include },
];

const measured = async (count, work) => {
  const before = process.cpuUsage();
  const passed = await work(cases.slice(0, count));
  const { user, system } = process.cpuUsage(before);
  return { cases: Math.min(count, cases.length), cpu_s: (user + system) / 1e6, passed };
};

const assertions = async (some) => {
  let passed = 0;
  for (const each of some) {
    const result = await library.assertions.runAssertions({
      test: { assert: asserts(each) },
      providerResponse: { output: each.output },
    });
    passed += result.pass ? 1 : 0;
  }
  return passed;
};

const evaluate = async (some) => {
  const outputs = new Map(some.map((each) => [each.id, each.output]));
  const summary = await library.evaluate(
    {
      prompts: ['{{id}}'],
      providers: [async (prompt) => ({ output: outputs.get(prompt) })],
      tests: some.map((each) => ({ vars: { id: each.id }, assert: asserts(each) })),
      writeLatestResults: false,
    },
    { maxConcurrency: 1, showProgressBar: false, cache: false },
  );
  return (summary.results ?? (await summary.toEvaluateSummary()).results).filter((each) => each.success).length;
};

await assertions(cases.slice(0, 200));
const report = { assertions: await measured(10_000, assertions), evaluate: await measured(1_000, evaluate) };
console.log(JSON.stringify(report));
process.exit(0);
