#if SwiftOperationMacros
  internal import SwiftCompilerPlugin
  internal import SwiftSyntaxMacros

  @main
  struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
      ContextEntryMacro.self,
      QueryRequestMacro.self,
      MutationRequestMacro.self,
      OperationRequestMacro.self,
      RunMacro.self,
    ]
  }
#else
  // Without the trait there is nothing to expand, but the target is still an executable.
  @main
  enum Plugin {
    static func main() {}
  }
#endif
