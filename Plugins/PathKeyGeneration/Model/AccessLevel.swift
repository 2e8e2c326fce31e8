/// How visible the generated code is.
enum AccessLevel: String, CaseIterable {
  case `internal`
  case package
  case `public`
}
