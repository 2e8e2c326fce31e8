#if SwiftOperationMacros
  /// The names of what a run brings, none of which the function or an own parameter of it has.
  struct BodyNames {
    let isolation: String
    let arguments: String
    let context: String
    let continuation: String
  }

  extension OperationFunction {
    var bodyNames: BodyNames {
      let taken = Set(self.ownParameters.map(\.name) + [self.name])
      func free(_ name: String) -> String {
        var name = name
        while taken.contains(name) { name = "run\(name.first?.uppercased() ?? "")\(name.dropFirst())" }
        return name
      }
      return BodyNames(
        isolation: free("isolation"),
        arguments: free("arguments"),
        context: free("context"),
        continuation: free("continuation")
      )
    }
  }
#endif
