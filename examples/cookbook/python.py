import tdict  # pip install ./python, in the clone

visits = tdict.open("visits")
print(visits.shape, visits["sex"][:3].tolist())
print(tdict.tolist(visits, "chol")[:3])  # None where the mask hides it
women = visits[visits["sex"] == "f"]
tdict.save(women, "women", tdict.schema(visits))  # Go opens it
print(len(women))
