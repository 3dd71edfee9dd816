// The device: the only code that touches private data. It needs nothing but the browser.
//
//   const question = questionOf(parse(text));
//   const report = answer(question, [7.5, 6.0, 8.25]);        // report.bytes is all that leaves

export { answer, respond, summarise } from "./answer.js";
export { participantName, slotOf } from "./assignment.js";
export { canonical, parse } from "./json.js";
export { questionOf } from "./questions.js";
export { decode } from "./reports.js";
export { isSigned } from "./signature.js";
