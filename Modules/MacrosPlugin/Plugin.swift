#if SwiftOperationMacros
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
#else
  // Without the trait there are no macros, but the target must still be an executable.
  @main
  enum Plugin {
    static func main() {}
  }
#endif
