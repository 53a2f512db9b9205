import { describe, expect, it } from 'vitest';
import { held } from '../api/fake';
import type { Preview } from '../api/model';
import { Problem } from '../api/problem';
import { emptyPreview } from './empty_preview';
import { PreviewedChange } from './previewed_change.svelte';

const previewOf = (subnets: number): Preview => ({ ...emptyPreview, subnets });
const refused = new Problem({ status: 409, title: 'Conflict', detail: 'It is pinned.' });

describe('a previewed change', () => {
  it('drops the preview of what the form no longer says', async () => {
    const change = new PreviewedChange();
    const late = held<Preview>();
    const showing = change.show(() => late.answer);
    expect(change.busy).toBe(true);
    change.edited();
    late.give(previewOf(1));
    await showing;
    expect(change.preview).toBeUndefined();
    expect(change.busy).toBe(false);
  });

  it('shows the later of two previews, in whichever order they arrive', async () => {
    const change = new PreviewedChange();
    const first = held<Preview>();
    const showing = change.show(() => first.answer);
    change.edited();
    await change.show(() => Promise.resolve(previewOf(2)));
    first.give(previewOf(1));
    await showing;
    expect(change.preview?.subnets).toBe(2);
  });

  it('keeps the preview beside the refusal of the change, and drops both for a new preview', async () => {
    const change = new PreviewedChange();
    await change.show(() => Promise.resolve(previewOf(1)));
    await change.apply(() => Promise.reject(refused));
    expect([change.preview?.subnets, change.problem]).toEqual([1, refused]);
    await change.show(() => Promise.resolve(previewOf(2)));
    expect([change.preview?.subnets, change.problem]).toEqual([2, undefined]);
  });
});
