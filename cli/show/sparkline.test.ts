import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { Form, SeriesDataSchema } from "#proto/cairn/v1/metric_pb.ts";
import { sparkline, sparkValues } from "./sparkline.ts";

function column(numbers: readonly number[]) {
  return { bytes: new Uint8Array(Float64Array.from(numbers).buffer) };
}

describe("sparkline", () => {
  it("T25 goes from the lowest to the highest", () => {
    expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7])).toBe("▁▂▃▄▅▆▇█");
    expect(sparkline([2, 2])).toBe("▅▅");
    expect(sparkline([])).toBe("");
  });

  it("T25 has a gap for NaN and ends for infinities", () => {
    expect(sparkline([0, NaN, 1, Infinity, -Infinity])).toBe("▁ ██▁");
  });

  it("T25 shows a spike of a single point among thousands", () => {
    const width = 10;
    const flat = Array.from({ length: width }, () => 1);
    const data = create(SeriesDataSchema, {
      form: Form.BAND,
      bucket: column(flat.map((_, i) => i)),
      mean: column(flat),
      min: column(flat.map(() => 0.9)),
      max: column(flat.with(6, 1000)),
    });
    expect(sparkline(sparkValues(data, width))).toBe("▁▁▁▁▁▁█▁▁▁");
  });

  it("T25 leaves columns without points empty", () => {
    const numbers = column([1, 3]);
    const data = create(SeriesDataSchema, {
      form: Form.BAND,
      bucket: column([0, 3]),
      mean: numbers,
      min: numbers,
      max: numbers,
    });
    expect(sparkline(sparkValues(data, 4))).toBe("▁  █");
  });
});
