// Plain JavaScript, because both beginnings of a thread need it before anything else is loaded.

/** The prototypes that everything inherits from, or that everybody uses. */
const SHARED = [
  Object,
  Function,
  Array,
  String,
  Number,
  Boolean,
  Symbol,
  BigInt,
  Date,
  RegExp,
  Promise,
  Error,
  Map,
  Set,
  WeakMap,
  WeakSet,
  ArrayBuffer,
  Object.getPrototypeOf(Uint8Array),
];

/**
 * From now on nothing can be added to the prototypes of this thread, and no object gives away or changes
 * its prototype by the name `__proto__`: a key from a client that ends up as the name of a property
 * cannot become a property of everything. What is there stays replaceable, as many libraries give
 * their own objects a `toString` by assignment, which a frozen prototype refuses.
 */
export function closePrototypes() {
  delete Object.prototype.__proto__;
  for (const { prototype } of SHARED) Object.preventExtensions(prototype);
}
