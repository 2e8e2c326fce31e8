#if SwiftOperationMacros
  /// Names for the values that a run passes, different from the names of the function and its own parameters.
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
