#if SwiftOperationMacros
  internal import OperationCore

  /// What the operation of a function is called: `Post.query(for:)`.
  struct FunctionName: Sendable {
    /// The type that the function belongs to; nil for a global one.
    let owner: (any Any.Type)?
    /// The member that the macro made.
    let peer: StaticString

    var text: String {
      let function = self.peer.withUTF8Buffer { String(decoding: $0.drop { $0 == UInt8(ascii: "$") }, as: UTF8.self) }
      return self.owner.map { OperationName.of($0) + "." + function } ?? function
    }
  }
#endif
