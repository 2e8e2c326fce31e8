#if SwiftOperationMacros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  extension AttributeSyntax {
    /// The argument with a label.
    func argument(_ label: String) -> ExprSyntax? {
      guard case .argumentList(let arguments) = self.arguments else { return nil }
      return arguments.first { $0.label?.text == label }?.expression
    }

    /// The attribute with an argument, which replaces one of the same label, and is on a line of its own if the others
    /// are.
    func setting(_ label: String, to value: ExprSyntax) -> AttributeSyntax {
      guard case .argumentList(var arguments) = self.arguments, !arguments.isEmpty else {
        let argument = LabeledExprSyntax(label: label, expression: value)
        return AttributeSyntax(
          atSign: self.atSign,
          attributeName: self.attributeName.trimmed,
          leftParen: .leftParenToken(),
          arguments: .argumentList([argument.with(\.colon, .colonToken(trailingTrivia: .space))]),
          rightParen: .rightParenToken()
        )
        .surrounded(as: self)
      }
      if let index = arguments.firstIndex(where: { $0.label?.text == label }) {
        arguments[index].expression = value.surrounded(as: arguments[index].expression)
      } else {
        arguments.insert(label, value)
      }
      return self.with(\.arguments, .argumentList(arguments))
    }
  }

  extension LabeledExprListSyntax {
    /// Inserts an argument at its place in the order of the labels.
    fileprivate mutating func insert(_ label: String, _ value: ExprSyntax) {
      let order = ["path", "initialPageId", "next", "previous"]
      let rank = order.firstIndex(of: label) ?? order.count
      let index = self.firstIndex { (order.firstIndex(of: $0.label?.text ?? "") ?? order.count) > rank }
      var argument = LabeledExprSyntax(label: label, expression: value)
      argument.colon = .colonToken(trailingTrivia: .space)
      if let index {
        let follower = self[index]
        argument.leadingTrivia = follower.leadingTrivia
        argument.trailingComma = .commaToken(trailingTrivia: follower.beginsLine ? [] : .space)
        self.insert(argument, at: index)
      } else if let last = self.indices.last {
        let predecessor = self[last]
        // What follows the last argument, as a comment does, stays behind it.
        self[last] =
          predecessor
          .with(\.trailingTrivia, [])
          .with(
            \.trailingComma,
            .commaToken(trailingTrivia: predecessor.beginsLine ? predecessor.trailingTrivia : .space)
          )
        argument.leadingTrivia = predecessor.beginsLine ? predecessor.leadingTrivia.lineBreak : []
        self.append(argument)
      }
    }
  }

  extension SyntaxProtocol {
    /// Whether there is a line break before the node.
    var beginsLine: Bool { self.leadingTrivia.contains { $0.isNewline } }
  }

  extension Trivia {
    /// The last line break with the indentation after it.
    var lineBreak: Trivia {
      let start = self.pieces.lastIndex { $0.isNewline } ?? self.pieces.endIndex
      return Trivia(pieces: self.pieces[start...])
    }
  }
#endif
