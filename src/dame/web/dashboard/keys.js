// The administrator's keys: in this tab only.

export const keyOf = {
  name: (study) => `dame-administrator ${study}`,
  find: (study) => sessionStorage.getItem(keyOf.name(study)),
  keep: (study, key) => sessionStorage.setItem(keyOf.name(study), key),
  forget: (study) => sessionStorage.removeItem(keyOf.name(study)),
};
