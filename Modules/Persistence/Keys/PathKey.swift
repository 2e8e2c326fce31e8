package import OperationCore

/// The texts of the elements of a path, for modules that name values in other places than a storage.
///
/// They are the texts in the keys of stored values: equal elements have equal texts in each process, and different ones
/// have different texts. They contain neither `/` nor `=`.
package struct PathKey: Hashable, Sendable {
  /// The text of each element.
  package private(set) var elements: [String] = []

  /// The texts of the elements of a path, up to the first one that has none.
  package init(longestPrefixOf path: OperationPath) {
    for element in path {
      guard let text = try? KeyText.element(element) else { return }
      self.elements.append(text)
    }
  }

  /// The texts of the elements of a path; nil if one has none.
  package init?(_ path: OperationPath) {
    self.init(longestPrefixOf: path)
    if self.elements.count < path.count { return nil }
  }

  /// Reports that a path has an element without a text.
  package static func reportMissing(in path: OperationPath) {
    do throws(NoStorageKey) {
      for element in path { _ = try KeyText.element(element) }
    } catch {
      error.report(at: path)
    }
  }

  /// The element with a text, if it is a string or an `Int`; nil for others, whose types are not known.
  package static func element(_ text: some StringProtocol) -> OperationPath.Element? {
    switch text.utf8.first {
    case UInt8(ascii: "s"): OperationPath.Element(StorageKey.unescaped(text.utf8.dropFirst()))
    case UInt8(ascii: "i"): Int(text.dropFirst()).map { OperationPath.Element($0) }
    default: nil
    }
  }

  /// A name with all characters escaped but letters, digits, `-`, `_` and `.`.
  package static func escaped(_ name: String) -> String { StorageKey.escaped(KeyText.normalized(name)) }

  /// The name that ``escaped(_:)`` has escaped.
  package static func unescaped(_ text: some StringProtocol) -> String { StorageKey.unescaped(text.utf8) }
}
