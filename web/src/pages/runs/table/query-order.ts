import { printField } from "#lang/query/field-text.ts";
import { joinOrder, splitOrder, type DraftOrder, type OrderText } from "#lang/query/draft/order.ts";
import { printPageField, type PageField } from "../../../data/runs/field.ts";

/**
 * The query after a click on the header of a field: ascending, then descending, then as before. With `add` it is
 * appended to the other fields of the order.
 */
export function withNextOrder(
  query: string,
  field: PageField,
  { add = false, descendingFirst = false } = {},
): string {
  const { condition, orders } = splitOrder(query);
  const text = printPageField(field);
  const place = orders.findIndex((order) => isOrderBy(order, field));
  const known = orders[place];
  if (known === undefined) {
    return joinOrder(condition, [...(add ? orders : []), { text, descending: descendingFirst }]);
  }
  const next: OrderText[] =
    known.descending === descendingFirst ? [{ text, descending: !descendingFirst }] : [];
  return joinOrder(condition, add ? [...orders.slice(0, place), ...next, ...orders.slice(place + 1)] : next);
}

/** In any spelling: `metrics.loss` is `metrics.loss.last`, and a key may be quoted. */
export function isOrderBy({ field }: DraftOrder, shown: PageField): boolean {
  return field !== undefined && printField(field) === printPageField(shown);
}
