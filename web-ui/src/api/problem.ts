/** What went wrong, in the form in which the interface shows it (RFC 9457). */

/** One refused field of a form. */
interface FieldProblem {
  field: string;
  message: string;
}

/** A refused or failed call. */
export class Problem extends Error {
  /** The HTTP status; 0 when there was no answer at all. */
  readonly status: number;
  /** The status in words. */
  readonly title: string;
  /** One sentence for people: what was wrong and what to do. */
  readonly detail: string;
  /** Under which id the coordinator's log knows the request. */
  readonly requestId: string | null;
  /** Refused fields, where the coordinator named them. */
  readonly fields: FieldProblem[];
  /** True when the coordinator did not answer: nobody did, or a proxy in its place. */
  readonly isAway: boolean;

  constructor(parts: {
    status: number;
    title: string;
    detail: string;
    requestId?: string | null;
    fields?: FieldProblem[];
    isAway?: boolean;
  }) {
    super(parts.detail);
    this.name = 'Problem';
    this.status = parts.status;
    this.title = parts.title;
    this.detail = parts.detail;
    this.requestId = parts.requestId ?? null;
    this.fields = parts.fields ?? [];
    this.isAway = parts.isAway ?? false;
  }
}

/** Statuses by which a proxy says that it cannot reach the coordinator. */
const gatewayStatuses = [502, 503, 504];

/** The problem in an answer of status 4xx or 5xx; a body that is no problem document still makes a sentence. */
export function problemOf(status: number, body: unknown, headers?: Headers): Problem {
  const parts = isRecord(body) ? body : {};
  const title = text(parts['title']);
  return new Problem({
    status,
    title: title ?? `Status ${status}`,
    detail: text(parts['detail']) ?? `The coordinator answered with status ${status}.`,
    requestId: text(parts['request_id']) ?? headers?.get('x-request-id') ?? null,
    fields: fieldsOf(parts['errors']),
    isAway: title === null && gatewayStatuses.includes(status),
  });
}

/** The problem when no answer came. */
export function unreachable(): Problem {
  return new Problem({
    status: 0,
    title: 'No answer',
    detail: 'The coordinator cannot be reached. Check that it is running and that you are online.',
    isAway: true,
  });
}

/** Whatever was thrown, as a problem. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  return new Problem({ status: 0, title: 'Unexpected', detail });
}

function fieldsOf(errors: unknown): FieldProblem[] {
  if (!Array.isArray(errors)) return [];
  return errors.filter(isRecord).flatMap((error) => {
    const field = text(error['field']);
    const message = text(error['message']);
    return field && message ? [{ field, message }] : [];
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
