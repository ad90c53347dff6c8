// The beginning: the document first, then the page, which has been waiting for it.
import { load } from "./load";

void load().then(() => import("./frame"));
