#if SwiftOperationMacros
  internal import SwiftSyntax
  internal import SwiftSyntaxMacros

  extension MacroExpansionContext {
    /// Two numbers made from the file, from what is around the function, and from its declaration, without its body.
    ///
    /// They are the same in every build. A type cannot be declared inside a generic function, so numbers, as the arguments
    /// of a generic type, make the type that tells one function from another. The compiler crashes over arguments of more
    /// than 31 bits, so there are two.
    func fingerprint(of function: FunctionDeclSyntax) -> (high: Int, low: Int) {
      var hash = FowlerNollVo()
      hash.combine(self.location(of: function)?.file.trimmedDescription ?? "")
      for surroundings in self.lexicalContext {
        guard let group = surroundings.asProtocol((any DeclGroupSyntax).self) else { continue }
        var header = group
        header.memberBlock = MemberBlockSyntax(members: [])
        hash.combine(header.trimmedDescription)
      }
      hash.combine(function.with(\.body, nil).with(\.attributes, []).trimmedDescription)
      return hash.value
    }
  }

  /// FNV-1a, in two parts of 31 bits each.
  private struct FowlerNollVo {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func combine(_ text: String) {
      // The zero ends a text, so that no two lists of texts are one.
      for byte in Array(text.utf8) + [0] {
        self.state = (self.state ^ UInt64(byte)) &* 0x100_0000_01b3
      }
    }

    var value: (high: Int, low: Int) { (Int(self.state >> 33), Int(self.state & 0x7fff_ffff)) }
  }
#endif
