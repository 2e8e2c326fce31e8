public import OperationCore

/// A value that names itself in the keys of a storage, as an element of a path.
///
/// The library knows the types of the standard library and of Foundation that are elements of paths, collections and
/// optionals of them, and types that are `RawRepresentable` or `Codable`. Another type conforms to this protocol:
///
/// ```swift
/// struct Region: Hashable, Sendable, StorageKeyConvertible {
///   let country: String
///   let zone: Int
///
///   var storageKey: OperationPath { [self.country, self.zone] }
/// }
/// ```
///
/// A conformance is also needed by a type that is `Codable` and has an `==` of its own, and by one that is private or
/// local, because such a type has another name each time the program runs: it gives ``storageKeyName``.
public protocol StorageKeyConvertible {
  /// The name of the type in keys, which no other type has; by default its full name, with its module.
  static var storageKeyName: String { get }

  /// The parts that identify the value: equal for equal values, different for different ones, the same in each process.
  ///
  /// Its elements have keys themselves.
  var storageKey: OperationPath { get }
}

extension StorageKeyConvertible {
  public static var storageKeyName: String { String(reflecting: Self.self) }
}
