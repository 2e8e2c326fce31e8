internal import OperationCore

extension ShownText {
  /// The type of a value and its size: `Array<Post>, 12 elements`. Nil for a value that is nil.
  static func typeAndSize(of value: Any) -> String? {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional { return mirror.children.first.flatMap { self.typeAndSize(of: $0.value) } }
    let name = "\(type(of: value))"
    switch value {
    case let text as String: return "\(name), \(self.count(text.count, "character"))"
    case let collection as any Collection: return "\(name), \(self.count(collection.count, "element"))"
    default: return name
    }
  }
}
