#if SwiftOperationMacros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder
  internal import SwiftSyntaxMacros

  /// Runs an operation with its own runner.
  struct RunMacro: ExpressionMacro {
    static func expansion(
      of node: some FreestandingMacroExpansionSyntax,
      in context: some MacroExpansionContext
    ) throws -> ExprSyntax {
      var runner: [String] = []
      var run: [String] = []
      for argument in node.arguments {
        switch argument.label?.text {
        case nil: runner.append("operation: \(argument.expression.trimmed)")
        case "context": runner.append("initialContext: \(argument.expression.trimmed)")
        default: run.append("with: \(argument.expression.trimmed)")
        }
      }
      return """
        OperationCore.OperationRunner(\(raw: runner.joined(separator: ", "))).run(\(raw: run.joined(separator: ", ")))
        """
    }
  }
#endif
