#if SwiftOperationMacros
  import OperationMacroExpansion
  import SwiftDiagnostics
  import SwiftParser
  import SwiftSyntax
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacros
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  // What the compiler loads has these as well, in an executable that no test can import.
  private enum ContextEntryMacro: ContextEntryExpansion {}
  private enum QueryRequestMacro: RequestExpansion { static let kind = RequestKind.query }
  private enum MutationRequestMacro: RequestExpansion { static let kind = RequestKind.mutation }
  private enum PaginatedRequestMacro: RequestExpansion { static let kind = RequestKind.paginated }
  private enum OperationRequestMacro: RequestExpansion { static let kind = RequestKind.operation }
  private enum RunMacro: RunExpansion {}

  private let macros: [String: MacroSpec] = [
    "ContextEntry": MacroSpec(type: ContextEntryMacro.self),
    "QueryRequest": MacroSpec(type: QueryRequestMacro.self),
    "MutationRequest": MacroSpec(type: MutationRequestMacro.self),
    "PaginatedRequest": MacroSpec(type: PaginatedRequestMacro.self),
    "OperationRequest": MacroSpec(type: OperationRequestMacro.self),
    "run": MacroSpec(type: RunMacro.self),
  ]

  /// Expects a source to expand to another.
  func expectExpansion(_ source: String, _ expanded: String, at location: Testing.SourceLocation = #_sourceLocation) {
    assertMacroExpansion(
      source,
      expandedSource: expanded,
      macroSpecs: macros,
      indentationWidth: .spaces(2),
      failureHandler: { Issue.record(Comment(rawValue: $0.message), sourceLocation: location) }
    )
  }

  /// Expects one error at the arrow, with one fix-it. The fixed source has to expand without an error.
  func expectMisuse(
    _ source: String,
    _ message: String,
    remedy: String,
    _ fixed: String,
    at location: Testing.SourceLocation = #_sourceLocation
  ) {
    let parts = source.split(separator: "→", omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      Issue.record("There has to be one arrow.", sourceLocation: location)
      return
    }
    let before = parts[0].split(separator: "\n", omittingEmptySubsequences: false)
    let source = parts.joined()
    let expanded = expansion(of: source).source
    assertMacroExpansion(
      source,
      expandedSource: expanded,
      diagnostics: [
        DiagnosticSpec(
          message: message,
          line: before.count,
          column: (before.last?.utf8.count ?? 0) + 1,
          fixIts: [FixItSpec(message: remedy)]
        )
      ],
      macroSpecs: macros,
      fixedSource: fixed,
      indentationWidth: .spaces(2),
      failureHandler: { Issue.record(Comment(rawValue: $0.message), sourceLocation: location) }
    )
    #expect(expansion(of: fixed).messages == [], sourceLocation: location)
  }

  private func expansion(of source: String) -> (source: String, messages: [String]) {
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(
      sourceFiles: [file: .init(moduleName: "TestModule", fullFilePath: "test.swift")]
    )
    let expanded = file.expand(
      macroSpecs: macros,
      contextGenerator: {
        BasicMacroExpansionContext(sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
      },
      indentationWidth: .spaces(2)
    )
    return (expanded.description, context.diagnostics.map(\.message))
  }
#endif
