#if SwiftOperationDevtools
  internal import OperationCore
  internal import OperationFoundation

  /// A value as a tree of texts: bounded, and without what is secret.
  struct ValueNode: Hashable, Sendable {
    /// The name of the member, or the index of the element.
    var label: String?
    let type: String
    /// The value, if it is shown as a text.
    var text: String?
    var children: [ValueNode] = []
    /// The number of children that are not shown.
    var leftOut = 0
    /// Whether the value is not shown because it is secret.
    var isSecret = false

    /// Whether a part is not shown because it is secret.
    var hasSecret: Bool { self.isSecret || self.children.contains { $0.hasSecret } }

    /// Reads a value, of which at most some thousand parts are shown.
    init(_ value: Any) { self = ValueReader().read(value, depth: 0) }

    init(type: String, text: String? = nil) {
      self.type = type
      self.text = text
    }
  }

  extension JSONText {
    mutating func value(_ node: ValueNode) {
      self.object { json in
        json.member("label", node.label)
        json.member("type", node.type)
        json.member("text", node.text)
        json.flag("secret", node.isSecret)
        if node.leftOut > 0 { json.member("leftOut", node.leftOut) }
        guard !node.children.isEmpty else { return }
        json.key("children")
        json.array { json in
          for child in node.children { json.value(child) }
        }
      }
    }
  }
#endif
