// node networks_ort.js MODEL.onnx SECONDS: runs a network with ONNX Runtime on one thread and prints one JSON record.
'use strict';
const path = require('path');
const ort = require(process.env.ORT_NODE_MODULES ? path.join(process.env.ORT_NODE_MODULES, 'onnxruntime-node') : 'onnxruntime-node');

const now = () => Number(process.hrtime.bigint()) / 1e6;

(async () => {
  const session = await ort.InferenceSession.create(process.argv[2], {
    executionProviders: ['cpu'], intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential',
    graphOptimizationLevel: 'all', logSeverityLevel: 3 });
  const feeds = {};
  for (const input of session.inputMetadata) {
    const dims = input.shape.map((d) => (typeof d === 'number' ? d : 1));
    const data = new Float32Array(dims.reduce((a, b) => a * b, 1));
    for (let i = 0; i < data.length; i++) data[i] = ((i * 2654435761) % 65536) / 32768 - 1;
    feeds[input.name] = new ort.Tensor('float32', data, dims);
  }
  for (let i = 0; i < 2; i++) await session.run(feeds);
  const times = [];
  for (const end = now() + process.argv[3] * 1e3; times.length < 5 || now() < end;) {
    const begin = now();
    await session.run(feeds);
    times.push(now() - begin);
  }
  times.sort((a, b) => a - b);
  console.log(JSON.stringify({ min: times[0], median: times[times.length >> 1], runs: times.length }));
})();
