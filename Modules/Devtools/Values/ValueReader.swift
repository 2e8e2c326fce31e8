#if SwiftOperationDevtools
  internal import OperationCore
  internal import OperationFoundation

  /// Reads values as trees.
  ///
  /// A value that is `Encodable` is shown as it encodes itself, so that a member that is not stored is not shown either; another
  /// one by its members. An `OperationSecret` is shown as its type, wherever it is in a value. As the code that encodes a value
  /// can write a secret as a plain text, one that may have a secret is shown by those members that it encodes.
  final class ValueReader {
    private static let (depthLimit, childLimit, textLimit) = (16, 200, 2000)
    private var left = 4000

    func read(_ value: Any, depth: Int) -> ValueNode {
      let mirror = Mirror(reflecting: value)
      if mirror.displayStyle == .optional {
        return mirror.children.first.map { self.read($0.value, depth: depth) } ?? ValueNode(type: "nil", text: "nil")
      }
      let type = "\(Swift.type(of: value))"
      if value is any OperationSecret {
        var node = ValueNode(type: type)
        node.isSecret = true
        return node
      }
      self.left -= 1
      if let text = Self.leafText(of: value) { return ValueNode(type: type, text: self.shortened(text)) }
      guard depth < Self.depthLimit, self.left > 0 else { return ValueNode(type: type, text: "…") }
      switch mirror.displayStyle {
      case .collection, .set: return self.node(type, mirror, depth) { index, _ in "\(index)" }
      case .dictionary: return self.dictionary(type, mirror, depth)
      default: break
      }
      if let value = value as? any Encodable, let node = self.encoded(value, type, depth) { return node }
      switch mirror.displayStyle {
      case .struct, .tuple, .enum:
        if mirror.children.isEmpty { return ValueNode(type: type, text: self.shortened(String(describing: value))) }
        return self.node(type, mirror, depth) { index, label in label ?? "\(index)" }
      default:
        // An object describes itself, in any of these ways, or is shown by the name of its type: its members may change while
        // they are read.
        let describesItself =
          value is any CustomStringConvertible || value is any CustomDebugStringConvertible
          || value is any TextOutputStreamable
        let text = describesItself ? ShownText.of(value: value) : String(describing: value)
        return ValueNode(type: type, text: self.shortened(text))
      }
    }

    private func node(_ type: String, _ mirror: Mirror, _ depth: Int, _ label: (Int, String?) -> String) -> ValueNode {
      var node = ValueNode(type: type)
      for (index, child) in mirror.children.prefix(Self.childLimit).enumerated() {
        guard self.left > 0 else { break }
        var part = self.read(child.value, depth: depth + 1)
        part.label = label(index, child.label)
        node.children.append(part)
      }
      node.leftOut = mirror.children.count - node.children.count
      return node
    }

    private func dictionary(_ type: String, _ mirror: Mirror, _ depth: Int) -> ValueNode {
      var node = ValueNode(type: type)
      for child in mirror.children.prefix(Self.childLimit) {
        guard self.left > 0 else { break }
        let pair = Mirror(reflecting: child.value).children.map(\.value)
        guard pair.count == 2 else { continue }
        var part = self.read(pair[1], depth: depth + 1)
        let key = ShownText.of(value: pair[0])
        part.label = pair[0] is any OperationSecret ? "‹\(key)›" : key
        node.children.append(part)
      }
      node.children.sort { ($0.label ?? "") < ($1.label ?? "") }
      node.leftOut = mirror.children.count - node.children.count
      return node
    }

    private func encoded(_ value: any Encodable, _ type: String, _ depth: Int) -> ValueNode? {
      let encoder = ValueEncoder(self, depth: depth)
      do { try value.encode(to: encoder) } catch { return nil }
      guard ShownText.mayHaveSecret(value) else { return encoder.node(type) }
      let mirror = Mirror(reflecting: value)
      let labels = encoder.labels
      // What it writes as a single value, or under other names, may be the text of a secret.
      let members = mirror.children.filter { child in child.label.map { labels.contains(Self.name(of: $0)) } ?? false }
      return self.node(type, Mirror(value, children: members), depth) { _, label in Self.name(of: label ?? "") }
    }

    /// The name of a member. The storage of a wrapped property has an underscore in front.
    private static func name(of label: String) -> String { label.hasPrefix("_") ? String(label.dropFirst()) : label }

    /// Whether another part may be read of a value with this number of parts.
    func allows(_ count: Int) -> Bool { count < Self.childLimit && self.left > 0 }

    private func shortened(_ text: String) -> String {
      text.count > Self.textLimit ? "\(text.prefix(Self.textLimit))…" : text
    }

    /// The text of a value that has no parts.
    private static func leafText(of value: Any) -> String? {
      switch value {
      case let text as String: text
      case let date as Date: date.formatted(.iso8601)
      case let data as Data: ShownText.count(data.count, "byte")
      case let duration as Duration: "\(duration)"
      case is Bool, is any BinaryInteger, is any FloatingPoint, is Character, is Substring, is UUID, is Decimal, is URL:
        "\(value)"
      default: nil
      }
    }
  }
#endif
