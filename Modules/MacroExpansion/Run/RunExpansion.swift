#if SwiftOperationMacros
  package import SwiftSyntax
  internal import SwiftSyntaxBuilder
  package import SwiftSyntaxMacros

  /// The expansion of the macro that runs an operation with its own runner.
  package protocol RunExpansion: ExpressionMacro {}

  extension RunExpansion {
    package static func expansion(
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
