#if SwiftOperationMacros
  internal import OperationMacroExpansion
  internal import SwiftCompilerPlugin
  internal import SwiftSyntaxMacros

  @main
  struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
      ContextEntryMacro.self,
      QueryRequestMacro.self,
      MutationRequestMacro.self,
      PaginatedRequestMacro.self,
      OperationRequestMacro.self,
      RunMacro.self,
    ]
  }

  // The compiler asks this executable for a macro by the name of a type, which has to be one of its own module.

  struct ContextEntryMacro: ContextEntryExpansion {}

  struct QueryRequestMacro: RequestExpansion {
    static let kind = RequestKind.query
  }

  struct MutationRequestMacro: RequestExpansion {
    static let kind = RequestKind.mutation
  }

  struct PaginatedRequestMacro: RequestExpansion {
    static let kind = RequestKind.paginated
  }

  struct OperationRequestMacro: RequestExpansion {
    static let kind = RequestKind.operation
  }

  struct RunMacro: RunExpansion {}
#else
  // Without the trait there are no macros, but the target must still be an executable.
  @main
  enum Plugin {
    static func main() {}
  }
#endif
