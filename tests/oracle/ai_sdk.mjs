// Checks messages against the schema with which the AI SDK checks them. Nothing may be left out by it, either.
import { deepEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { modelMessageSchema } from 'ai';

const jobs = JSON.parse(readFileSync(process.argv[1]));
let wrong = 0;
let files = 0;
for (const { job, options } of jobs) {
    for (const message of [options.instructions, ...options.messages].filter(Boolean)) {
        const parts = Array.isArray(message.content) ? message.content : [];
        files += parts.filter(({ type }) => type === 'file').length;
        const { data, error } = modelMessageSchema.safeParse(message);
        try {
            deepEqual(data, message);
        } catch {
            wrong += 1;
            console.log(`wrong: ${JSON.stringify(job)}: ${JSON.stringify(error?.issues ?? data).slice(0, 500)}`);
        }
    }
}
console.log(`${jobs.length} requests with ${files} files`);
process.exit(wrong > 0 ? 1 : 0);
